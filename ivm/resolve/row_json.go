package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// A row of a subquery has no type that can be named. As JSON it is a column right above the subquery, made of its columns, so that outer joins have a null in
// its place; to count rows, too.

// How functions take rows.
const (
	asJSONB = "jsonb"
	asJSON  = "json"
)

// rowFunctions are PostgreSQL's functions of which a row is an argument, by how they take it.
var rowFunctions = map[string]string{
	"to_jsonb": asJSONB, "jsonb_build_object": asJSONB, "jsonb_build_array": asJSONB, "jsonb_agg": asJSONB, "jsonb_object_agg": asJSONB, "count": asJSONB,
	"to_json": asJSON, "row_to_json": asJSON, "json_build_object": asJSON, "json_build_array": asJSON, "json_agg": asJSON, "json_object_agg": asJSON,
}

// rowsAsJSON has functions take JSON in the place of rows of subqueries.
func (r *resolver) rowsAsJSON(e sqltext.Expr, s *scope) sqltext.Expr {
	return e.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		call, ok := e.Call()
		form := rowFunctions[call.Name]
		if !ok || form == "" || call.Named || call.Variadic || call.Distinct || !r.isBuiltin(call) {
			return sqltext.Expr{}, false
		}
		args, found := slices.Clone(call.Args), false
		for i, arg := range args {
			row, ok := r.rowAsJSON(arg, form, s)
			if !ok {
				args[i] = r.rowsAsJSON(arg, s)
				continue
			}
			args[i], found = row, true
		}
		switch {
		case !found:
			return sqltext.Expr{}, false
		case call.Name == "row_to_json" && len(args) == 1:
			return args[0], true
		case call.Name == "json_agg":
			return r.lines(e, args[0]), true
		case call.Name == "row_to_json":
			return sqltext.Expr{}, false
		}
		return e.Calling(call.Name, args...), true
	})
}

// lines is json_agg of a row, which it writes into lines of their own.
func (r *resolver) lines(e, row sqltext.Expr) sqltext.Expr {
	line := func(text string) sqltext.Expr { return r.withColumn(text, row) }
	all := e.Calling("string_agg", line("coalesce(e::text, 'null')"), line(`case when e is null then ', ' else ', ' || chr(10) || ' ' end`))
	return r.withColumn("('[' || e || ']')::json", all)
}

// withColumn is an expression with another one in the place of e.
func (r *resolver) withColumn(text string, with sqltext.Expr) sqltext.Expr {
	return parsed(text, map[string]int{"e": 1}).Map(func(e sqltext.Expr) (sqltext.Expr, bool) { _, is := e.Column(); return with, is })
}

// rowAsJSON is the column that the row of a subquery is as JSON, if an expression names such a row. It is there once it was asked for.
func (r *resolver) rowAsJSON(e sqltext.Expr, form string, s *scope) (sqltext.Expr, bool) {
	ref, ok := e.Ref()
	if !ok || ref.Star || !r.wholeRow(ref, s) {
		return sqltext.Expr{}, false
	}
	t := r.tableAround(s, ref.Parts)
	at := t.rowPlace
	if at == (place{}) {
		return sqltext.Expr{}, false
	}
	at.form = form
	r.wanted[at] = true
	id, made := t.json[form]
	return e.Bound(int(id)), made
}

// withJSON puts the row of a subquery in FROM beside its columns, as JSON in the forms that are asked for.
func (r *resolver) withJSON(node algebra.Node, s *scope, at int) algebra.Node {
	t := &s.tables[0]
	if t.open || len(t.columns) == 0 {
		return node
	}
	t.rowPlace, t.json = place{view: r.viewed(), at: at}, map[string]algebra.ColID{}
	p := &algebra.Project{Input: node, Items: algebra.Same(node.Columns())}
	for _, form := range []string{asJSONB, asJSON} {
		if at := (place{r.viewed(), at, form}); !r.wanted[at] {
			continue
		}
		row := algebra.Scalar{Expr: jsonbOf(t.columns)}
		if form == asJSON {
			row.Expr = r.jsonOf(t.columns)
		}
		info := algebra.Info{Name: t.name, Type: form, Varied: form == asJSONB, Equality: catalog.EqualityOf(form)}
		t.json[form] = r.typed(info, of(catalog.Shape{Kind: catalog.ValueShape}), row.Expr)
		p.Items = append(p.Items, algebra.Item{ID: t.json[form], Expr: row})
	}
	if len(t.json) == 0 {
		return node
	}
	return p
}

// mostPairs is how many columns one call of jsonb_build_object takes.
const mostPairs = 50

// jsonbOf is what to_jsonb makes of a row.
func jsonbOf(columns []column) sqltext.Expr {
	ids, calls := map[string]int{}, []string{}
	for from := 0; from < len(columns); from += mostPairs {
		var pairs []string
		for i, c := range columns[from:min(from+mostPairs, len(columns))] {
			name := fmt.Sprintf("c%d", from+i)
			ids[name] = int(c.id)
			pairs = append(pairs, sqltext.Literal(c.name)+", "+name)
		}
		calls = append(calls, "jsonb_build_object("+strings.Join(pairs, ", ")+")")
	}
	return parsed(strings.Join(calls, " || "), ids)
}

// jsonOf is what row_to_json makes of a row: the same text.
func (r *resolver) jsonOf(columns []column) sqltext.Expr {
	ids, text := map[string]int{}, "'{'"
	for i, c := range columns {
		name, key := fmt.Sprintf("c%d", i), sqltext.JSONString(c.name)+":"
		ids[name] = int(c.id)
		if i > 0 {
			key = "," + key
		}
		if r.columns.Info(c.id).Type == "text" { // which a constant becomes
			name += "::text"
		}
		text += " || " + sqltext.Literal(key) + " || coalesce(to_json(" + name + ")::text, 'null')"
	}
	text = strings.Replace(text, "'{' || '", "'{", 1)
	return parsed("("+text+" || '}')::json", ids)
}
