package objects

import (
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Where upgrades of the runtime find the rows of its tables, by their names: a released version may have them under another name, or in another
// table. Tables of options, whose rows scripts write, keep their names. No version is released yet that has another.
var (
	formerNames = map[string]string{} // the upgrade renames the table
	takenFrom   = map[string]string{} // the upgrade runs <name>.fill.sql.tmpl, beside the template of the table, before it changes or drops the other one
)

// keepRows notes it of a table.
func keepRows(o *upgrade.Object, c created, view render.Extension) {
	table := func(name string) string { return sqltext.Qualified(c.of.Schema, name) }
	if former := formerNames[c.of.Name]; former != "" {
		o.From(upgrade.Object{Kind: o.Kind, Signature: table(former), SQL: strings.ReplaceAll(o.SQL, o.Signature, table(former))})
	}
	if from := takenFrom[c.of.Name]; from != "" {
		o.Takes, o.Fill = "table "+table(from), render.Must(strings.TrimSuffix(c.template, ".sql")+".fill.sql", view)
	}
}
