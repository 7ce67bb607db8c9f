package plan

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/parallel"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

type compiler struct {
	spec    *spec.Spec
	known   *catalog.Catalog
	errs    *diag.List
	views   []*ivm.Plan
	state   []int                      // unseen, begun or done
	reads   [][]int                    // the stream tables that each reads
	way     []int                      // those that are being compiled, each for the one before it
	written []map[sqltext.Relation]int // the same, by the names that the query has for them
	parsed  []sqltext.Query            // nil where a query has errors
	named   [][]*sqltext.TableRef      // the tables that each names; found once, as all are asked whether they name one
	order   []int                      // of the stream tables, those first that others read
}

func newCompiler(s *spec.Spec, errs *diag.List) *compiler {
	count := len(s.StreamTables)
	c := &compiler{
		spec: s, known: catalog.New(searchPath(s)...), errs: errs,
		views: make([]*ivm.Plan, count), state: make([]int, count), reads: make([][]int, count), written: make([]map[sqltext.Relation]int, count),
		parsed: parallel.Map(s.StreamTables, func(t spec.StreamTable) sqltext.Query {
			q, err := sqltext.ParseQuery(t.Query.Text)
			if err != nil {
				return nil // reported when it is compiled
			}
			return q
		}),
	}
	for _, q := range c.parsed {
		c.named = append(c.named, sqltext.Tables(q))
	}
	return c
}

// readDDL reads what relations there are.
func (c *compiler) readDDL() {
	c.checkDDL()
	for _, ddl := range c.spec.DDL {
		c.errs.AddSource(ddl.File, ddl.Text)
		c.forgetInbox(ddl)
		c.errs.Merge(c.known.AddDDL(ddl))
	}
	c.forgetOwn()
}

// checkDDL has DDL checked. What a database says of itself is right, and not all that it has.
func (c *compiler) checkDDL() {
	if c.spec.Pulled {
		c.known.Open()
		return
	}
	made := c.spec.Makes()
	ivm.CheckDDL(c.known, c.errs, func(schema, name string) bool {
		return slices.ContainsFunc(made, func(m spec.Name) bool { return m.Name == name && (schema == "" || m.Schema == schema) })
	})
}

// forgetInbox forgets the table of an inbox before its own DDL is read: a dump has it, too.
func (c *compiler) forgetInbox(ddl diag.Block) {
	for i := range c.spec.Inboxes {
		inbox := &c.spec.Inboxes[i]
		if r := c.known.Relation(inbox.Relation.Schema, inbox.Relation.Name); r != nil && ddl.File == inboxFile(inbox) {
			c.known.Remove(r)
		}
	}
}

// forgetOwn forgets the views that this extension made, which the dump of a database has where it is installed.
func (c *compiler) forgetOwn() {
	for i := range c.spec.StreamTables {
		t := &c.spec.StreamTables[i]
		r := c.known.Relation(t.Relation.Schema, t.Relation.Name)
		if r != nil && r.Kind == catalog.View && strings.HasPrefix(r.Comment, render.StreamTableComment(c.spec.Extension.Name)) {
			c.known.Remove(r)
		}
	}
}

// inboxFile is the file name under which the table of an inbox is added to the DDL of a spec.
func inboxFile(i *spec.Inbox) string { return "inbox " + i.Name }
