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
	input  string // of the column that holds arg, which accumulators share
	kind   accumulation
	arg    algebra.Scalar // of which rows' value; zero for a count of rows
	filter []algebra.Scalar

	special bool // a value may be NaN or infinite
}

// accumulation is how an accumulator follows changes.
type accumulation string

const (
	sumOf   accumulation = "sum"
	countOf accumulation = "count"
	oddOf   accumulation = "odd" // how many values are NaN or infinite, from which nothing can be taken away again: they are not in the sum
	// how many values there are of each scale, which quotients and texts of a sum hang on: the sum of rows that have gone keeps their digits
	scalesOf accumulation = "scales"
	leastOf  accumulation = "min"
	mostOf   accumulation = "max"
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
		return s.add(countOf, arg, a.Filter)
	case len(a.Args) != 1:
		return ""
	case a.Func == "min":
		return s.add(leastOf, a.Args[0], a.Filter)
	case a.Func == "max":
		return s.add(mostOf, a.Args[0], a.Filter)
	case a.Func != "sum" && a.Func != "avg":
		return ""
	}
	typ := s.view.exprType(a.Args[0])
	number, special := sqltext.IsNumber(typ)
	if !number {
		return ""
	}
	sum, count := s.add(sumOf, a.Args[0], a.Filter), s.add(countOf, a.Args[0], a.Filter)
	stored := sum
	if special && s.view.scale(a.Args[0]) == sqltext.VariedScale {
		sum = scaled(sum, s.add(scalesOf, a.Args[0], a.Filter))
	}
	if special {
		s.mark(stored)
		odd := s.add(oddOf, a.Args[0], a.Filter)
		sum = fmt.Sprintf("case when %[2]s = 0 then %[1]s when mod(%[2]s, 1e18) > 0 or %[2]s > 1e36 and mod(%[2]s, 1e36) > 0 then 'NaN'"+
			" when %[2]s >= 1e36 then '-Infinity' else 'Infinity' end", sum, odd)
	}
	if a.Func == "avg" {
		return fmt.Sprintf("case when %[2]s > 0 then (%[1]s)::numeric / %[2]s end", sum, count)
	}
	return fmt.Sprintf("case when %[2]s > 0 then %[1]s end", sum, count)
}

// isOdd is the condition that a number is NaN or infinite; oddity adds up to how many of each there are.
func isOdd(x string) string { return x + " in ('NaN', 'Infinity', '-Infinity')" }

func oddity(x string) string {
	return "case " + x + " when 'NaN' then 1 when 'Infinity' then 1e18 when '-Infinity' then 1e36 end"
}

// hasScale is the condition that a value is a number with digits: NaN and infinities have none.
func hasScale(x string) string { return "scale(" + x + ") is not null" }

// scaleOf adds up to how many numbers there are of each scale, twelve digits for each.
func scaleOf(x string) string { return "('1e' || 12 * least(scale(" + x + "), 10000))::numeric" }

// scaled is a sum with as many digits as the number has that has most of them, of which scales counts how many there are. No numeric has room for the
// counts of more than 10,000 digits: such sums stay as they are.
func scaled(sum, scales string) string {
	return fmt.Sprintf("case when %[2]s < 1e120000 then round(%[1]s, (length(%[2]s::text) - 1) / 12) else %[1]s end", sum, scales)
}

// scale is that of the values of an expression over columns of the view.
func (v *View) scale(e algebra.Scalar) sqltext.Scale {
	return e.Expr.Scale(sqltext.Scales{
		Types: sqltext.Types{Column: func(id int) string { return v.typeOf(algebra.ColID(id)) }},
		Fixed: func(id int) bool { return !v.Columns.Info(algebra.ColID(id)).Varied },
	})
}

// add adds an accumulator, unless the same one is there, and returns its column.
func (s *accumulating) add(kind accumulation, arg algebra.Scalar, filter []algebra.Scalar) string {
	for _, a := range s.all {
		if a.kind == kind && sqltext.Equal(a.arg.Expr, arg.Expr) && sameAll(a.filter, filter) {
			return a.name
		}
	}
	name := fmt.Sprintf("__%s%d", kind, len(s.all)+1)
	input := name
	for _, a := range s.all {
		if sqltext.Equal(a.arg.Expr, arg.Expr) && sameAll(a.filter, filter) {
			input = a.input
			break
		}
	}
	s.all = append(s.all, accumulator{name: name, input: input, kind: kind, arg: arg, filter: filter})
	return name
}

// mark notes that a sum's values may be special.
func (s *accumulating) mark(sum string) {
	for i := range s.all {
		s.all[i].special = s.all[i].special || s.all[i].name == sum
	}
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
