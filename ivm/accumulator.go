package ivm

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Members is the column that counts the rows of a stored group.
const Members = "__n"

// accumulator is what is stored of a group so that an aggregate follows from it: a sum, a count, or the least or greatest value.
type accumulator struct {
	name   string // of the column
	kind   accumulation
	arg    algebra.Scalar // of which rows' value; zero for a count of rows
	filter []algebra.Scalar
	exact  bool // it can be NaN or infinite, from which nothing can be taken away again
}

// accumulation is how an accumulator follows changes.
type accumulation string

const (
	sumOf   accumulation = "sum"
	countOf accumulation = "count"
	leastOf accumulation = "min"
	mostOf  accumulation = "max"
)

// extreme tells that what is taken away may be what is stored.
func (a accumulator) extreme() bool { return a.kind == leastOf || a.kind == mostOf }

// accumulators are those of the view's groups, and for each aggregate the expression over them; ok is false if an aggregate is not made of such.
func (v *View) accumulators(groups *algebra.Aggregate) (all []accumulator, exprs map[algebra.ColID]string, ok bool) {
	s := &accumulating{view: v}
	exprs = map[algebra.ColID]string{}
	for _, a := range groups.Aggs {
		if a.Func == "" || a.Distinct {
			return nil, nil, false
		}
		expr := s.of(a)
		if expr == "" {
			return nil, nil, false
		}
		exprs[a.ID] = expr
	}
	return s.all, exprs, true
}

type accumulating struct {
	view *View
	all  []accumulator
}

// of adds what an aggregate needs and returns its expression over that.
func (s *accumulating) of(a algebra.Agg) string {
	switch {
	case a.Func == "count" && len(a.Args) == 0 && len(a.Filter) == 0:
		return Members
	case a.Func == "count":
		var arg algebra.Scalar
		if len(a.Args) > 0 {
			arg = a.Args[0]
		}
		return s.count(arg, a.Filter)
	case len(a.Args) != 1:
		return ""
	case a.Func == "min":
		return s.add(leastOf, a.Args[0], a.Filter, false)
	case a.Func == "max":
		return s.add(mostOf, a.Args[0], a.Filter, false)
	case a.Func != "sum" && a.Func != "avg":
		return ""
	}
	typ := a.Args[0].Expr.Type(func(id int) string { return s.view.Columns.Info(algebra.ColID(id)).Type })
	number, special := sqltext.IsNumber(typ)
	if !number {
		return ""
	}
	sum, count := s.add(sumOf, a.Args[0], a.Filter, !special), s.count(a.Args[0], a.Filter)
	if a.Func == "avg" {
		return fmt.Sprintf("case when %[2]s > 0 then %[1]s::numeric / %[2]s end", sum, count)
	}
	return fmt.Sprintf("case when %[2]s > 0 then %[1]s end", sum, count)
}

// count counts the rows that have a value: those of the group, where all have one.
func (s *accumulating) count(arg algebra.Scalar, filter []algebra.Scalar) string {
	if id, ok := arg.Column(); ok && len(filter) == 0 && !s.view.Columns.Info(id).Nullable {
		return Members
	}
	return s.add(countOf, arg, filter, false)
}

// add adds an accumulator, unless the same one is there, and returns its column.
func (s *accumulating) add(kind accumulation, arg algebra.Scalar, filter []algebra.Scalar, exact bool) string {
	for _, a := range s.all {
		if a.kind == kind && sqltext.Equal(a.arg.Expr, arg.Expr) && sameAll(a.filter, filter) {
			return a.name
		}
	}
	name := fmt.Sprintf("__%s%d", kind, len(s.all)+1)
	s.all = append(s.all, accumulator{name, kind, arg, filter, exact})
	return name
}

func sameAll(a, b []algebra.Scalar) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sqltext.Equal(a[i].Expr, b[i].Expr) {
			return false
		}
	}
	return true
}
