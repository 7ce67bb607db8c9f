package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// compileViews compiles the query of each stream table, sources before their readers. Views stand in the spec's order; the view of a wrong
// query is nil, and its errors are in errs.
func compileViews(s *spec.Spec, errs *diag.List) *compiler {
	c := newCompiler(s, errs)
	if len(s.StreamTables) == 0 && !adopts(s) {
		return c
	}
	c.readDDL()
	c.checkOwnTables()
	for n := range s.StreamTables {
		c.compile(n)
	}
	return c
}

// What has become of a stream table.
const (
	unseen = iota
	begun
	done
)

// compile compiles a stream table after those that its query names.
func (c *compiler) compile(n int) {
	if c.state[n] != unseen {
		return
	}
	t := &c.spec.StreamTables[n]
	if !c.compileSources(n) {
		return
	}
	view := c.view(n)
	if view != nil {
		c.checkSources(t, view)
		c.checkMode(t, view)
		c.checkColumns(t, view)
		c.add(t, view)
	}
	c.views[n] = view
	c.order = append(c.order, n)
}

// view compiles a query.
func (c *compiler) view(n int) *ivm.Plan {
	query := c.spec.StreamTables[n].Query
	if c.checkLengths(query) {
		return nil
	}
	if q := c.parsed[n]; q != nil {
		return ivm.CompileParsed(q, query.Text, query.Pos, c.known, c.options(n), c.errs)
	}
	return ivm.Compile(query.Text, query.Pos, c.known, c.errs)
}

// options say what is stored of a query. Of one with LIMIT, what others read must be what people see.
func (c *compiler) options(n int) ivm.Options {
	t := &c.spec.StreamTables[n]
	more := t.RefreshMode != spec.RefreshFull && c.spec.Extension.Target == spec.TargetPostgres
	return ivm.Options{States: more, All: more && t.Outbox == nil && !c.isFollowed(n), Cheap: t.RefreshMode == spec.RefreshAuto}
}

// isFollowed reports whether another stream table may follow the changes of one.
func (c *compiler) isFollowed(n int) bool {
	for m, tables := range c.named {
		if m == n || c.spec.StreamTables[m].RefreshMode == spec.RefreshFull {
			continue
		}
		if slices.ContainsFunc(tables, func(ref *sqltext.TableRef) bool { return c.means(ref, &c.spec.StreamTables[n]) }) {
			return true
		}
	}
	return false
}

// compileSources compiles the stream tables that a query reads, and reports whether all went well with them.
func (c *compiler) compileSources(n int) bool {
	if c.parsed[n] == nil {
		return true
	}
	well := true
	c.state[n], c.written[n] = begun, map[sqltext.Relation]int{}
	c.way = append(c.way, n)
	defer func() { c.state[n], c.way = done, c.way[:len(c.way)-1] }()
	for _, ref := range c.named[n] {
		for m := range c.spec.StreamTables {
			other := &c.spec.StreamTables[m]
			if !c.means(ref, other) {
				continue
			}
			if c.state[m] == begun {
				c.errs.Add(readsItself(c.spec.StreamTables[n].Query.Pos(ref.Pos), c.wayFrom(m)))
				well = false
				continue
			}
			c.compile(m)
			c.reads[n] = append(c.reads[n], m)
			c.written[n][sqltext.Relation{Schema: ref.Schema, Name: ref.Name}] = m
			well = well && c.views[m] != nil
		}
	}
	return well
}

// wayFrom lists the stream tables of which each reads the next, from one that is being compiled to itself.
func (c *compiler) wayFrom(m int) (names []string) {
	for _, n := range append(c.way[slices.Index(c.way, m):], m) {
		names = append(names, c.spec.StreamTables[n].Name)
	}
	return names
}

// means reports whether a name in a query is that of a stream table, and not of something else that is known already.
func (c *compiler) means(ref *sqltext.TableRef, t *spec.StreamTable) bool {
	if t.Relation.Name != ref.Name || ref.Schema != "" && ref.Schema != t.Relation.Schema {
		return false
	}
	known := c.known.Relation(ref.Schema, ref.Name)
	return known == nil || known.Kind == catalog.StreamTable && known.Schema == t.Relation.Schema
}

// add makes a stream table a source for others.
func (c *compiler) add(t *spec.StreamTable, view *ivm.Plan) {
	r := &catalog.Relation{Schema: t.Relation.Schema, Name: t.Relation.Name, Kind: catalog.StreamTable, At: t.Field("name"), Open: view.Whole()}
	for _, o := range view.Output {
		r.Columns = append(r.Columns, catalog.Column{Name: o.Name, Type: o.Type, NotNull: o.NeverNull, Varied: o.Varied, Equality: o.Equality})
	}
	if taken := c.known.Add(r); taken != nil {
		c.errs.Add(nameTaken(t.Field("name"), t.Name, taken))
	}
}

// checkSources refuses tables whose names comments cannot hold, as the spec refuses such names of its own.
func (c *compiler) checkSources(t *spec.StreamTable, view *ivm.Plan) {
	for _, r := range slices.Concat(view.Sources, view.Views) {
		if strings.ContainsFunc(r.Schema+r.Name, unicode.IsControl) {
			c.errs.Add(unreadableName(t.Query.Pos(0), r))
		}
	}
}

// checkMode refuses a mode that the query does not allow.
func (c *compiler) checkMode(t *spec.StreamTable, view *ivm.Plan) {
	if t.RefreshMode == spec.RefreshAuto || t.RefreshMode == spec.RefreshFull {
		return
	}
	if view.Moves != nil && (t.RefreshMode == spec.RefreshImmediate || t.RefreshMode == spec.RefreshAtCommit) {
		c.errs.Add(movesWithTime(*view.Moves, t.RefreshMode))
	}
	if t.RefreshMode == spec.RefreshImmediate && view.Followed() {
		c.checkImmediate(t, view)
	}
	if t.RefreshMode == spec.RefreshAtCommit {
		c.checkAtCommit(t, view)
	}
	for _, reason := range view.Full {
		c.errs.Add(notIncremental(t.RefreshMode, reason.Pos, reason.What, reason.Hint))
	}
}

// checkImmediate refuses sources whose changes fire no statement trigger of their own.
func (c *compiler) checkImmediate(t *spec.StreamTable, view *ivm.Plan) {
	for _, need := range view.Needs {
		switch r := need.Table; r.Kind {
		case catalog.Table, catalog.Partitioned:
		case catalog.StreamTable:
			for _, other := range c.spec.StreamTables {
				if other.Relation.Schema == r.Schema && other.Relation.Name == r.Name && other.RefreshMode != spec.RefreshImmediate {
					when := ", which is refreshed later"
					if other.RefreshMode == spec.RefreshAtCommit {
						when = ", which changes when the transaction commits"
					}
					c.errs.Add(notImmediate(t.Field("refresh_mode"), "stream table "+other.Name+when, "make both immediate, or neither"))
				}
			}
		default:
			c.errs.Add(notImmediate(t.Field("refresh_mode"), "a "+r.Kind.String()+" ("+r.SQLName()+")", "use refresh_mode auto or differential"))
		}
	}
}
