package generator

import (
	"slices"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// mostColumns is how many columns a table of PostgreSQL can have, less what is stored beside a query's.
const mostColumns = 1600 - 3

// checkColumns refuses queries and sources whose columns no table of ours can hold, and indexes on columns that there are not.
func (c *compiler) checkColumns(t *spec.StreamTable, view *ivm.View) {
	c.checkDistinct(view)
	for _, o := range view.Output {
		if view.Columns.Info(o.ID).Type == sqltext.Record {
			c.errs.Add(record(t.Query.At, o.Name))
		}
	}
	if n := len(view.Storage().Stored); n > mostColumns {
		c.errs.Add(tooWide(t.Query.At, "this query", n))
	}
	for _, r := range view.Sources {
		if n := len(columnsRead(view, r)); n > mostColumns {
			c.errs.Add(tooWide(t.Query.At, "what it reads of "+r.SQLName(), n))
		}
	}
	c.checkIndexes(t, view)
}

// checkDistinct refuses a name that two columns have.
func (c *compiler) checkDistinct(view *ivm.View) {
	first := map[string]diag.Pos{}
	for _, o := range view.Output {
		if other, taken := first[o.Name]; taken {
			c.errs.Add(repeatedColumn(o.Pos, other, o.Name))
			continue
		}
		first[o.Name] = o.Pos
	}
}

// checkIndexes refuses indexes on columns that a stream table does not have.
func (c *compiler) checkIndexes(t *spec.StreamTable, view *ivm.View) {
	names := make([]string, len(view.Output))
	for i, o := range view.Output {
		names[i] = o.Name
	}
	for _, index := range t.Indexes {
		for _, column := range index {
			if column.Value != "" && !slices.Contains(names, column.Value) {
				c.errs.Add(noColumn(column, t.Name, names))
			}
		}
	}
}
