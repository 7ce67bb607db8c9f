package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// SEARCH and CYCLE add columns to a query that reads itself, which PostgreSQL computes in both of its terms. Paths are arrays of rows there, which no table can
// hold: here they are arrays of the texts of rows, which are equal where these are, and have the same text. They are not sorted alike, so only their text may be
// read: ORDER BY at the end of a query says nothing of what is stored.

const (
	pathsReason = "SEARCH or CYCLE"
	pathsHint   = "have the recursive term compute the path, and sort or test by it"
)

// told are types whose texts are equal where values are, whatever a session has set.
var told = []string{"smallint", "integer", "bigint", "oid", "boolean", "uuid", "text", "character varying", "name"}

// hasPaths reports whether a WITH query has SEARCH or CYCLE.
func (cte *cteScope) hasPaths() bool { return cte.with.Search != nil || cte.with.Cycle != nil }

// rowText is the text of the row of some columns, of ids that stand for those of a WITH query, behind further values.
func (r *resolver) rowText(cte *cteScope, ids []algebra.ColID, names []string, before string) (text string, columns map[string]int) {
	columns = map[string]int{}
	var parts []string
	if before != "" {
		parts = append(parts, before)
	}
	for _, name := range names {
		at := slices.IndexFunc(cte.columns, func(c column) bool { return c.name == name })
		if at < 0 || at >= len(ids) {
			continue
		}
		if !slices.Contains(told, sqltext.Unsized(r.columns.Info(ids[at]).Type)) || r.columns.Info(ids[at]).Varied {
			r.full(cte.with.Pos, pathsReason+" by a column of type "+r.columns.Info(ids[at]).Type, pathsHint)
		}
		columns[fmt.Sprintf("c%d", at)] = int(ids[at])
		parts = append(parts, fmt.Sprintf("c%d", at))
	}
	return "row(" + strings.Join(parts, ", ") + ")::text", columns
}

// withColumns computes further columns beside those of a relation.
func (r *resolver) withColumns(rel relation, names []string, exprs []sqltext.Expr) relation {
	p := &algebra.Project{Input: rel.node, Items: algebra.Same(rel.ids)}
	out := relation{names: slices.Clone(rel.names), ids: slices.Clone(rel.ids), at: slices.Clone(rel.at)}
	for i, e := range exprs {
		item := algebra.Item{Expr: algebra.Scalar{Expr: e}}
		item.ID = r.typed(r.computed(names[i], item.Expr), nil, e)
		p.Items = append(p.Items, item)
		out.names, out.ids, out.at = append(out.names, names[i]), append(out.ids, item.ID), append(out.at, rel.at[0])
	}
	out.node = p
	return out
}

// marks are the values of the mark of CYCLE: where there is one, and where there is none.
func (r *resolver) marks(cycle *sqltext.Cycle) (is, none sqltext.Expr) {
	if is, none = cycle.Value, cycle.Default; is.IsZero() {
		return sqltext.True(), sqltext.False()
	}
	return is, none
}

// computed are columns that a term has besides those of the query.
type computed struct {
	names []string
	exprs []sqltext.Expr
}

func (c *computed) set(name string, e sqltext.Expr) {
	c.names, c.exprs = append(c.names, name), append(c.exprs, e)
}

// add adds a column whose text reads columns by their names in it.
func (c *computed) add(name, text string, columns map[string]int) { c.set(name, parsed(text, columns)) }

// seeds are the rows of the first term with the columns that SEARCH and CYCLE add: in the order in which they are seen, and the depth last.
func (r *resolver) seeds(cte *cteScope, left relation) relation {
	var more computed
	search, cycle := cte.with.Search, cte.with.Cycle
	if search != nil && search.BreadthFirst {
		text, columns := r.rowText(cte, left.ids, search.Columns, "0::bigint")
		more.add(search.Sequence, text, columns)
	} else if search != nil {
		text, columns := r.rowText(cte, left.ids, search.Columns, "")
		more.add(search.Sequence, "array["+text+"]", columns)
	}
	if cycle != nil {
		_, none := r.marks(cycle)
		more.set(cycle.Mark, none)
		text, columns := r.rowText(cte, left.ids, cycle.Columns, "")
		more.add(cycle.Path, "array["+text+"]", columns)
	}
	if search != nil && search.BreadthFirst {
		more.add("depth", "0::bigint", nil)
	}
	left.names = nil
	for _, c := range cte.columns {
		left.names = append(left.names, c.name)
	}
	return r.withColumns(left, more.names, more.exprs)
}

// steps are the rows of the recursive term with the columns that SEARCH and CYCLE add, computed of those of the rows before. It is
// false where the term is no single SELECT over these.
func (r *resolver) steps(cte *cteScope, right relation) (rel relation, ok bool) {
	node, ok := carried(right.node, cte)
	if right.open != nil || !ok || len(right.ids) != len(cte.columns) {
		return right, false
	}
	before := slices.Clone(cte.carried)
	next := func() int { id := before[0]; before = before[1:]; return int(id) }
	var more computed
	search, cycle := cte.with.Search, cte.with.Cycle
	if search != nil && search.BreadthFirst {
		text, columns := r.rowText(cte, right.ids, search.Columns, "n + 1")
		columns["n"] = int(cte.carried[len(cte.carried)-1])
		next()
		more.add(search.Sequence, text, columns)
	} else if search != nil {
		text, columns := r.rowText(cte, right.ids, search.Columns, "")
		columns["p"] = next()
		more.add(search.Sequence, "array_append(p, "+text+")", columns)
	}
	if cycle != nil {
		is, none := r.marks(cycle)
		mark := sqltext.Column(next())
		node = &algebra.Filter{Input: node, Conds: []algebra.Scalar{{Expr: sqltext.Compare(sqltext.Operator{Name: "<>"}, mark, is)}}}
		text, columns := r.rowText(cte, right.ids, cycle.Columns, "")
		columns["p"] = next()
		again := parsed("case when "+text+" = any (p) then is_ else none_ end", columns).Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
			ref, ok := e.Ref()
			if !ok {
				return e, false
			}
			return map[string]sqltext.Expr{"is_": is, "none_": none}[ref.Parts[0]], true
		})
		more.set(cycle.Mark, again)
		more.add(cycle.Path, "array_append(p, "+text+")", columns)
	}
	if search != nil && search.BreadthFirst {
		more.add("depth", "n + 1", map[string]int{"n": next()})
	}
	right.node = node
	return r.withColumns(right, more.names, more.exprs), true
}

// carried is a tree whose rows have the columns of the rows before, too, that SEARCH and CYCLE add. It is false where there is no one row before for each.
func carried(n algebra.Node, cte *cteScope) (algebra.Node, bool) {
	switch n := n.(type) {
	case *algebra.Source:
		return n, n.Table == cte.self
	case *algebra.Project:
		input, ok := carried(n.Input, cte)
		return &algebra.Project{Input: input, Items: append(slices.Clone(n.Items), algebra.Same(cte.carried)...)}, ok
	case *algebra.Filter, *algebra.Each, *algebra.Semi, *algebra.Outer:
		in := slices.Clone(n.Inputs())
		left, ok := carried(in[0], cte)
		in[0] = left
		return n.With(in), ok
	case *algebra.Join:
		if left, ok := carried(n.Left, cte); ok {
			return n.With([]algebra.Node{left, n.Right}), true
		}
		right, ok := carried(n.Right, cte)
		return n.With([]algebra.Node{n.Left, right}), ok
	}
	return n, false
}

// notePaths notes which columns of a WITH query are paths, of which only the text may be read, and leaves out the depth, which nothing sees.
func (r *resolver) notePaths(cte *cteScope, columns []column) []column {
	at := len(cte.columns)
	if cte.self == nil || len(columns) < at+len(cte.carried) {
		return columns
	}
	if cte.with.Search != nil {
		r.paths[columns[at].id] = true
		at++
	}
	if cte.with.Cycle != nil {
		r.paths[columns[at+1].id] = true
		at += 2
	}
	return columns[:at]
}

// isIn reports whether an item of FROM is the WITH query, or a join of it.
func (cte *cteScope) isIn(item sqltext.From) bool {
	switch item := item.(type) {
	case *sqltext.TableRef:
		return item.Schema == "" && item.Name == cte.with.Name
	case *sqltext.JoinRef:
		return cte.isIn(item.Left) || cte.isIn(item.Right)
	}
	return false
}

// readsPath reports whether an expression reads a path.
func (r *resolver) readsPath(e algebra.Scalar) bool {
	return slices.ContainsFunc(e.Columns(), func(id algebra.ColID) bool { return r.paths[id] })
}

// pathText is the text of a path, if an expression is one.
func (r *resolver) pathText(e sqltext.Expr, s *scope) (sqltext.Expr, bool) {
	form := e.Form()
	if form.Kind != sqltext.CastForm || r.catalog.TypeIn(r.path, form.Type) != "text" {
		return sqltext.Expr{}, false
	}
	id, ok := r.apart().plain(form.Parts[0], s)
	if !ok || !r.paths[id] {
		return sqltext.Expr{}, false
	}
	return parsed("p::text", map[string]int{"p": int(id)}), true
}

// checkPaths checks what SEARCH and CYCLE name.
func (r *resolver) checkPaths(cte *cteScope, union *sqltext.SetOp) {
	for i, q := range []sqltext.Query{union.Left, union.Right} {
		if _, ok := q.(*sqltext.SetOp); ok {
			message := "with a SEARCH or CYCLE clause, the " + []string{"left", "right"}[i] + " side of the UNION must be a SELECT"
			r.errs.Add(diag.Error{Pos: r.pos(max(0, q.At())), Code: "syntax", Message: message})
		}
	}
	taken := map[string]bool{}
	for _, c := range cte.columns {
		taken[c.name] = true
	}
	wrong := func(at int, code, format string, args ...any) {
		r.errs.Add(diag.Error{Pos: r.pos(max(0, at)), Code: code, Message: fmt.Sprintf(format, args...)})
	}
	named := func(what string, at int, names []string) {
		for i, name := range names {
			switch {
			case !taken[name]:
				wrong(at, "syntax", "%s column %q not in WITH query column list", what, name)
			case slices.Contains(names[:i], name):
				wrong(at, "duplicate-column", "%s column %q specified more than once", what, name)
			}
		}
	}
	added := map[string]string{}
	adds := func(what, name string, at int) {
		if taken[name] {
			wrong(at, "syntax", "%s column name %q already used in WITH query column list", what, name)
		} else if other := added[name]; other != "" {
			wrong(at, "syntax", "%s column name and %s column name are the same", other, what)
		}
		added[name] = what
	}
	if search := cte.with.Search; search != nil {
		named("search", search.Pos, search.Columns)
		adds("search sequence", search.Sequence, search.Pos)
	}
	if cycle := cte.with.Cycle; cycle != nil {
		named("cycle", cycle.Pos, cycle.Columns)
		adds("cycle mark", cycle.Mark, cycle.Pos)
		adds("cycle path", cycle.Path, cycle.Pos)
	}
}
