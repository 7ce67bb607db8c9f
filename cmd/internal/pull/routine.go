package pull

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// routineRow is a row of routines.sql.
type routineRow struct {
	OID          int64
	Schema, Name string
	Args         string
	IsAggregate  bool
	Definition   string // empty for aggregates
}

// routines writes functions and aggregates.
func (w *writer) routines(_ string, oids []int64) error {
	all, err := rows[routineRow](w.database, "routines", oids)
	if err != nil {
		return err
	}
	aggregates, err := w.aggregates(oids)
	for _, r := range all {
		text := definition(r.Definition)
		if r.IsAggregate {
			text = aggregates[r.OID].create()
		}
		w.put("pg_proc", r.OID, item{
			rank: rankRoutine, name: sortKey(r.Schema, r.Name, r.Args),
			what: fmt.Sprintf("function %s(%s)", sqltext.Qualified(r.Schema, r.Name), r.Args), text: text,
		})
	}
	return err
}

// defined is an object whose statement is CREATE with a list of options.
type defined struct {
	OID          int64
	Schema, Name string
	Args         string
	Options      []string
}

func (w *writer) aggregates(oids []int64) (map[int64]defined, error) {
	all, err := rows[defined](w.database, "aggregates", oids)
	byOID := map[int64]defined{}
	for _, a := range all {
		byOID[a.OID] = a
	}
	return byOID, err
}

func (a defined) create() string {
	return "create aggregate " + sqltext.Qualified(a.Schema, a.Name) + "(" + sqltext.Tidy(a.Args) + ") " + lines(a.Options)
}

// castRow is a row of casts.sql.
type castRow struct {
	OID            int64
	Source, Target string
	Function       string // with its arguments
	Method         string // as pg_cast.castmethod
	Context        string // as pg_cast.castcontext
}

// casts writes casts.
func (w *writer) casts(class string, oids []int64) error {
	all, err := rows[castRow](w.database, "casts", oids)
	for _, c := range all {
		name := "(" + c.Source + " as " + c.Target + ")"
		how := map[string]string{"f": " with function " + c.Function, "i": " with inout", "b": " without function"}[c.Method]
		when := map[string]string{"a": " as assignment", "i": " as implicit"}[c.Context]
		w.put(class, c.OID, item{rank: rankOperator, name: sortKey("", c.Source, c.Target), what: "cast " + name, text: "create cast " + name + how + when})
	}
	return err
}
