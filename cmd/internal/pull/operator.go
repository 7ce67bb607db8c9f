package pull

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// operatorRow is a row of operators.sql.
type operatorRow struct {
	OID          int64
	Schema, Name string
	Left, Right  string // types
	Options      []string
}

// operators writes operators, whose names are never quoted.
func (w *writer) operators(class string, oids []int64) error {
	all, err := rows[operatorRow](w.database, "operators", oids)
	for _, o := range all {
		name := sqltext.Ident(o.Schema) + "." + o.Name
		w.put(class, o.OID, item{
			rank: rankOperator, name: sortKey(o.Schema, o.Name, o.Left, o.Right),
			what: "operator " + name, text: "create operator " + name + " " + lines(o.Options),
		})
	}
	return err
}

// operatorClass is a row of operator_classes.sql.
type operatorClass struct {
	OID          int64
	Schema, Name string
	IsDefault    bool
	Type         string
	Method       string
	Family       string
	Items        []string
}

// operatorClasses writes operator classes.
func (w *writer) operatorClasses(class string, oids []int64) error {
	all, err := rows[operatorClass](w.database, "operator_classes", oids)
	for _, o := range all {
		name := sqltext.Qualified(o.Schema, o.Name)
		text := "create operator class " + name
		if o.IsDefault {
			text += " default"
		}
		text += " for type " + o.Type + " using " + sqltext.Ident(o.Method) + " family " + o.Family + " as\n    " + strings.Join(o.Items, ",\n    ")
		w.put(class, o.OID, item{rank: rankOperator, name: sortKey(o.Schema, o.Name, o.Method), what: "operator class " + name, text: text})
	}
	return err
}

// operatorFamily is a row of operator_families.sql.
type operatorFamily struct {
	OID          int64
	Schema, Name string
	Method       string
}

// operatorFamilies writes operator families; what is in them comes with their classes.
func (w *writer) operatorFamilies(class string, oids []int64) error {
	all, err := rows[operatorFamily](w.database, "operator_families", oids)
	for _, o := range all {
		name := sqltext.Qualified(o.Schema, o.Name)
		w.put(class, o.OID, item{
			rank: rankOperator, name: sortKey(o.Schema, o.Name, o.Method),
			what: "operator family " + name, text: "create operator family " + name + " using " + sqltext.Ident(o.Method),
		})
	}
	return err
}
