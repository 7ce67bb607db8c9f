package pull

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// class is a row of classes.sql.
type class struct {
	OID        int64
	Kind       string
	Identity   bool // a sequence of an identity column
	Constrains bool // an index of a constraint
}

// relations writes tables, views, sequences and indexes.
func (w *writer) relations(_ string, oids []int64) error {
	classes, err := rows[class](w.database, "classes", oids)
	if err != nil {
		return err
	}
	byKind := map[string][]int64{}
	for _, c := range classes {
		w.put("pg_class", c.OID, item{}) // those that others write
		byKind[c.writtenAs()] = append(byKind[c.writtenAs()], c.OID)
	}
	for _, write := range []func(*writer, map[string][]int64) error{
		(*writer).sequences, (*writer).tables, (*writer).indexes, (*writer).views,
	} {
		if err := write(w, byKind); err != nil {
			return err
		}
	}
	return nil
}

// writtenAs is what kind of statement writes a relation; empty if another object does.
func (c class) writtenAs() string {
	switch c.Kind {
	case "r", "p", "f":
		return "table"
	case "v", "m":
		return "view"
	case "S":
		if c.Identity {
			return "identity"
		}
		return "sequence"
	case "i", "I":
		if !c.Constrains {
			return "index"
		}
	case "c":
		return "composite"
	}
	return ""
}

// index is a row of indexes.sql.
type index struct {
	OID, Relation int64
	Schema, Name  string
	Definition    string
}

// indexes writes indexes.
func (w *writer) indexes(byKind map[string][]int64) error {
	all, err := rows[index](w.database, "indexes", byKind["index"])
	for _, i := range all {
		text := definition(i.Definition)
		if w.graph[object{"pg_class", i.Relation}].member {
			create, rest, _ := strings.Cut(text, " index ")
			text = create + " index if not exists " + rest
		}
		w.put("pg_class", i.OID, item{
			rank: rankAfterTable, name: sortKey(i.Schema, i.Name),
			what: "index " + sqltext.Qualified(i.Schema, i.Name), text: text,
		})
	}
	return err
}

// viewRow is a row of views.sql.
type viewRow struct {
	OID          int64
	Schema, Name string
	Materialized bool
	Query        string
	Options      []string // name=value
}

// views writes views, and materialized views without their rows.
func (w *writer) views(byKind map[string][]int64) error {
	all, err := rows[viewRow](w.database, "views", byKind["view"])
	for _, v := range all {
		member := w.graph[object{"pg_class", v.OID}].member
		w.put("pg_class", v.OID, item{
			rank: rankView, name: sortKey(v.Schema, v.Name),
			what: "view " + sqltext.Qualified(v.Schema, v.Name), text: v.create(member),
		})
	}
	return err
}

// create is the statement; what an extension has made already is left as it is.
func (v viewRow) create(member bool) string {
	name := sqltext.Qualified(v.Schema, v.Name)
	query := definition(v.Query)
	switch {
	case v.Materialized && member:
		return "create materialized view if not exists " + name + " as\n" + query + "\nwith no data"
	case v.Materialized:
		return "create materialized view " + name + " as\n" + query + "\nwith no data"
	case member:
		return "create or replace view " + name + v.with() + " as\n" + query
	default:
		return "create view " + name + v.with() + " as\n" + query
	}
}

// with spells the options of a view.
func (v viewRow) with() string {
	if len(v.Options) == 0 {
		return ""
	}
	return " with (" + strings.Join(slices.Sorted(slices.Values(v.Options)), ", ") + ")"
}
