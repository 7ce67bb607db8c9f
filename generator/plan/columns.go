package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// mostColumns is the number of columns that a PostgreSQL table can have, less those that are stored beside the columns of a query.
const mostColumns = 1600 - 3

// systemColumns are names that a view may give its columns, and a table may not.
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

// checkColumns refuses queries and sources whose columns no table can hold, and indexes on missing columns.
func (c *compiler) checkColumns(t *spec.StreamTable, view *ivm.Plan) {
	c.checkDistinct(view)
	c.checkInternal(t, view)
	for _, o := range view.Output {
		if o.Type == sqltext.Record {
			c.errs.Add(record(o.Pos, o.Name))
		}
		if slices.Contains(systemColumns, o.Name) {
			c.errs.Add(systemColumn(o.Pos, o.Name))
		}
	}
	if n := len(view.Storage.Stored); n > mostColumns {
		c.errs.Add(tooWide(t.Query.At, "this query", n))
	}
	for _, r := range view.Sources {
		if n := len(view.Need(r).Columns); n > mostColumns {
			c.errs.Add(tooWide(t.Query.At, "what it reads of "+r.SQLName(), n))
		}
	}
	if view.Whole() {
		c.checkWhole(t, view)
		return
	}
	c.checkIndexes(t, view)
}

// checkWhole refuses options that need the names of columns that only the server knows.
func (c *compiler) checkWhole(t *spec.StreamTable, view *ivm.Plan) {
	if t.Outbox != nil {
		c.errs.Add(needsColumns(*view.Open, "an outbox, whose rows have them"))
	}
	if t.Rebuild == spec.RebuildOnline {
		c.errs.Add(needsColumns(*view.Open, "rebuild: online"))
	}
}

// checkLengths reports names in a query that PostgreSQL would cut, and whether there are any: the parser has cut them.
func (c *compiler) checkLengths(q spec.Query) bool {
	seen := map[string]bool{}
	for _, name := range sqltext.Names(q.Text) {
		if len(name.Name) > spec.MaxNameBytes && !seen[name.Name] {
			seen[name.Name] = true
			c.errs.Add(nameTooLong(q.Pos(name.Offset), name.Name))
		}
	}
	return len(seen) > 0
}

// checkDistinct refuses a name that two columns have.
func (c *compiler) checkDistinct(view *ivm.Plan) {
	first := map[string]diag.Pos{}
	for _, o := range view.Output {
		if other, taken := first[o.Name]; taken {
			c.errs.Add(repeatedColumn(o.Pos, other, o.Name))
			continue
		}
		first[o.Name] = o.Pos
	}
}

// checkInternal refuses names of columns that generated SQL has beside the query's.
func (c *compiler) checkInternal(t *spec.StreamTable, view *ivm.Plan) {
	for _, o := range view.Output {
		if ivm.IsInternal(o.Name) {
			c.errs.Add(internalColumn(nameIn(t.Query, o.Name, o.Pos), o.Name))
		}
	}
}

// nameIn is where a query mentions a name; otherwise if it does not.
func nameIn(q spec.Query, name string, otherwise diag.Pos) diag.Pos {
	for _, found := range sqltext.Names(q.Text) {
		if found.Name == name {
			return q.Pos(found.Offset)
		}
	}
	return otherwise
}

// checkIndexes refuses indexes on columns that a stream table does not have, or that cannot be sorted.
func (c *compiler) checkIndexes(t *spec.StreamTable, view *ivm.Plan) {
	names := make([]string, len(view.Output))
	for i, o := range view.Output {
		names[i] = o.Name
	}
	for _, index := range t.Indexes {
		for _, column := range index {
			switch at := slices.Index(names, column.Value); {
			case column.Value == "":
			case at < 0:
				c.errs.Add(noColumn(column, t.Name, names))
			case c.known.Unsorted(view.Output[at].Type):
				c.errs.Add(Unindexable(column.At, view.Output[at].Type))
			}
		}
	}
}
