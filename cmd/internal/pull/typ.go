package pull

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// typeRow is a row of types.sql.
type typeRow struct {
	OID          int64
	Schema, Name string
	Kind         string // as pg_type.typtype
	IsArray      bool
	Relation     int64  // whose rows the type is of
	RelationKind string // as pg_class.relkind; c: of a type alone
	Labels       []string
	Base         string // of a domain
	Collation    string // of a domain, if it is not the base's
	Default      string
	NotNull      bool
	NotNullAs    string // the name of the constraint, if the server keeps it
}

func (t typeRow) sql() string { return sqltext.Qualified(t.Schema, t.Name) }

// types writes enums, domains, composite types and ranges. Arrays, multiranges and the types of rows come with what they are of.
func (w *writer) types(_ string, oids []int64) error {
	all, err := rows[typeRow](w.database, "types", oids)
	if err != nil {
		return err
	}
	ranges, err := w.ranges(oids)
	if err != nil {
		return err
	}
	columns, err := w.columns(composites(all))
	if err != nil {
		return err
	}
	for _, t := range all {
		text := ""
		switch t.Kind {
		case "e":
			text = t.enum()
		case "d":
			text = w.domain(t)
		case "c":
			if t.RelationKind == "c" {
				text = t.composite(columns[t.Relation])
			}
		case "r":
			text = ranges[t.OID].create(t)
		case "m":
		default:
			if !t.IsArray {
				return w.unsupported(object{"pg_type", t.OID}, "it is a base type that belongs to no extension")
			}
		}
		w.putType(t, text)
	}
	return nil
}

func (w *writer) putType(t typeRow, text string) {
	i := item{what: "type " + t.sql(), text: text}
	if text != "" {
		i.rank, i.name = rankType, sortKey(t.Schema, t.Name)
	}
	w.put("pg_type", t.OID, i)
}

func composites(all []typeRow) []int64 {
	var relations []int64
	for _, t := range all {
		if t.RelationKind == "c" {
			relations = append(relations, t.Relation)
		}
	}
	return relations
}

func (t typeRow) enum() string {
	var labels []string
	for _, label := range t.Labels {
		labels = append(labels, literal(label))
	}
	return "create type " + t.sql() + " as enum " + lines(labels)
}

func (t typeRow) composite(columns []columnRow) string {
	var elements []string
	for _, c := range columns {
		elements = append(elements, sqltext.Ident(c.Name)+" "+c.Type+c.collation())
	}
	return "create type " + t.sql() + " as " + lines(elements)
}

// domain writes a domain with one clause per line.
func (w *writer) domain(t typeRow) string {
	clauses := []string{"create domain " + t.sql() + " as " + t.Base}
	if t.Collation != "" {
		clauses = append(clauses, "collate "+t.Collation)
	}
	if t.Default != "" {
		clauses = append(clauses, "default "+sqltext.Tidy(t.Default))
	}
	switch {
	case t.NotNull && t.NotNullAs != "" && t.NotNullAs != t.Name+"_not_null":
		clauses = append(clauses, "constraint "+sqltext.Ident(t.NotNullAs)+" not null")
	case t.NotNull:
		clauses = append(clauses, "not null")
	}
	return strings.Join(append(clauses, w.inline[object{"pg_type", t.OID}]...), "\n    ")
}

// rangeRow is a row of ranges.sql.
type rangeRow struct {
	OID        int64
	Subtype    string
	OpClass    string // if it is not the subtype's default
	Collation  string // if it is not the subtype's
	Canonical  string
	SubDiff    string
	Multirange string
}

func (w *writer) ranges(oids []int64) (map[int64]rangeRow, error) {
	all, err := rows[rangeRow](w.database, "ranges", oids)
	byType := map[int64]rangeRow{}
	for _, r := range all {
		byType[r.OID] = r
	}
	return byType, err
}

func (r rangeRow) create(t typeRow) string {
	elements := []string{"subtype = " + r.Subtype}
	for _, option := range []struct{ name, value string }{
		{"subtype_opclass", r.OpClass}, {"collation", r.Collation}, {"canonical", r.Canonical}, {"subtype_diff", r.SubDiff},
		{"multirange_type_name", r.Multirange},
	} {
		if option.value != "" {
			elements = append(elements, option.name+" = "+option.value)
		}
	}
	return "create type " + t.sql() + " as range " + lines(elements)
}
