package resolve

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// moments has a condition read the clock, a relation of one row that is joined, in the place of now() and the like; read reports whether it does.
func (j *joining) moments(e sqltext.Expr) (over sqltext.Expr, read bool) {
	over = e.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		if call, ok := e.Call(); ok && j.isAggregate(call) { // whose rows may be those of a query around
			return e, true
		}
		typ, ok := j.momentOf(e)
		if !ok {
			return sqltext.Expr{}, false
		}
		read = true
		text := "v"
		if typ != "" {
			text += "::" + typ
		}
		return parsed(text, map[string]int{"v": int(j.moment(e))}), true
	})
	return over, read
}

// momentOf says of an expression that stands for the time what the moment is cast to; false for others.
func (r *resolver) momentOf(e sqltext.Expr) (string, bool) {
	if name, ok := e.ValueFunction(); ok {
		if e.SQL() != strings.ToUpper(name) && e.SQL() != name { // it has a precision
			return "", false
		}
		return catalog.MomentType(name)
	}
	call, ok := e.Call()
	if !ok || len(call.Args) > 0 || !r.isBuiltin(call) {
		return "", false
	}
	return catalog.MomentType(call.Name)
}

// isTime is a test whether there is a time: there always is.
func (r *resolver) isTime(e sqltext.Expr) (sqltext.Expr, bool) {
	form := e.Form()
	if form.Kind != sqltext.NullTestForm {
		return sqltext.Expr{}, false
	}
	if _, ok := r.momentOf(form.Parts[0]); !ok {
		return sqltext.Expr{}, false
	}
	if sqltext.Equal(e, sqltext.IsNull(form.Parts[0])) {
		return sqltext.False(), true
	}
	return sqltext.True(), true
}

// tells reports whether an expression reads the time of day as a condition may.
func (r *resolver) tells(e sqltext.Expr) bool {
	_, ok := r.momentOf(e)
	return ok || slices.ContainsFunc(e.Children(), r.tells)
}

// aggregatesMoment reports whether an aggregate reads the time of day, of which nothing is joined below groups.
func (r *resolver) aggregatesMoment(e sqltext.Expr) bool {
	if call, ok := e.Call(); ok && r.isAggregate(call) {
		return r.tells(e)
	}
	return slices.ContainsFunc(e.Children(), r.aggregatesMoment)
}

// moment is the column of the clock.
func (j *joining) moment(e sqltext.Expr) algebra.ColID {
	if j.clock == 0 {
		of := catalog.Clock.Columns[0]
		node := &algebra.Source{Table: catalog.Clock}
		j.clock = j.columns.New(algebra.Info{Name: of.Name, Type: of.Type, Equality: of.Equality})
		j.origin[j.clock] = origin{node, 0}
		node.Cols = []algebra.SourceCol{{ID: j.clock}}
		j.sides = append(j.sides, side{node: node})
	}
	if j.result.Moment == nil {
		at := j.pos(max(0, e.At()))
		j.result.Moment = &at
	}
	return j.clock
}
