package emit

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
)

// isSpecial is the condition that a number is NaN or infinite; specials adds up to how many of each there are.
func isSpecial(x string) string { return x + " in ('NaN', 'Infinity', '-Infinity')" }

func specials(x string) string {
	return "case " + x + " when 'NaN' then 1 when 'Infinity' then 1e18 when '-Infinity' then 1e36 end"
}

// hasScale is the condition that a value is a number with digits: NaN and infinities have none.
func hasScale(x string) string { return "scale(" + x + ") is not null" }

// scales adds up to how many numbers there are of each scale, twelve digits for each.
func scales(x string) string { return "('1e' || 12 * least(scale(" + x + "), 10000))::numeric" }

// largest is a number of 120,000 digits. The server shows a view with it as it is written: of a constant of type numeric it would write all digits.
const largest = "'1e120000'::text::numeric"

// scaled is a sum with as many digits as the number has that has most of them, of which scales counts how many there are. No numeric has room for the
// counts of more than 10,000 digits: such sums stay as they are.
func scaled(sum, scales string) string {
	return fmt.Sprintf("case when %[2]s < %[3]s then round(%[1]s, (length(%[2]s::text) - 1) / 12) else %[1]s end", sum, scales, largest)
}

// result is an aggregate over the columns of its accumulators.
func result(r apply.Result) string {
	sum := r.Column
	if r.Scales != "" {
		sum = scaled(sum, r.Scales)
	}
	if r.Special != "" {
		sum = fmt.Sprintf("case when %[2]s = 0 then %[1]s when mod(%[2]s, 1e18) > 0 or %[2]s > 1e36 and mod(%[2]s, 1e36) > 0 then 'NaN'"+
			" when %[2]s >= 1e36 then '-Infinity' else 'Infinity' end", sum, r.Special)
	}
	switch r.Kind {
	case apply.Total:
		return fmt.Sprintf("case when %[2]s > 0 then %[1]s end", sum, r.Count)
	case apply.Quotient:
		return fmt.Sprintf("case when %[2]s > 0 then (%[1]s)::numeric / %[2]s end", sum, r.Count)
	}
	return sum
}

// states computes the accumulators of a node's groups.
func (w *writer) states(g *apply.Groups, n algebra.Node) string {
	folds := []fold{{name: apply.Members, sql: "count(%s)"}}
	for _, a := range g.Accumulators {
		folds = append(folds, foldOf(a))
	}
	return w.groups(n, g.Node.Keys, apply.Names(g.Keys), folds)
}

// extremes computes the least and greatest values of a node's groups.
func (w *writer) extremes(g *apply.Groups, n algebra.Node) string {
	var folds []fold
	for _, a := range g.Accumulators {
		if a.Extreme() {
			folds = append(folds, foldOf(a))
		}
	}
	return w.groups(n, g.Node.Keys, apply.Names(g.Keys), folds)
}

// foldOf computes an accumulator from rows.
func foldOf(a apply.Accumulator) fold {
	f := fold{name: a.Name, sql: string(a.Kind) + "(%s)", arg: a.Arg, filter: a.Filter}
	switch a.Kind {
	case apply.Sum:
		f.zero = true
		if a.Special {
			f.and = "not " + isSpecial("%s")
		}
	case apply.Specials:
		f.zero, f.sql = true, "sum("+specials("%s")+")"
	case apply.Scales:
		f.zero, f.sql, f.and = true, "sum("+scales("%s")+")", hasScale("%s")
	}
	return f
}

// changes are an accumulator's columns of delta.
func changes(a apply.Accumulator) []string {
	value := "d." + a.Input
	var conds []string
	if len(a.Filter) > 0 {
		conds = append(conds, "d."+a.Input+"_if")
	}
	switch a.Kind {
	case apply.Specials:
		return []string{"coalesce(sum(" + specials(value) + " * d." + Mult + ")" + filter(conds) + ", 0) as " + a.Name}
	case apply.Scales:
		return []string{"coalesce(sum(" + scales(value) + " * d." + Mult + ")" + filter(append(conds, hasScale(value))) + ", 0) as " + a.Name}
	case apply.Sum:
		if a.Special {
			conds = append(conds, "not "+isSpecial(value))
		}
		return []string{"coalesce(sum(" + value + " * d." + Mult + ")" + filter(conds) + ", 0) as " + a.Name}
	case apply.Count:
		if !a.Arg.Expr.IsZero() {
			conds = append(conds, value+a.IsThere())
		}
		return []string{"coalesce(sum(d." + Mult + ")" + filter(conds) + ", 0) as " + a.Name}
	}
	extreme := string(a.Kind) + "(" + value + ")"
	return []string{
		extreme + filter(append(conds, "d."+Mult+" > 0")) + " as " + a.Name,
		extreme + filter(append(conds, "d."+Mult+" < 0")) + " as " + a.Name + "_gone",
	}
}

func filter(conds []string) string {
	if len(conds) == 0 {
		return ""
	}
	return " filter (where " + strings.Join(conds, " and ") + ")"
}

// mergedValue is an accumulator of stored group r with the change in d.
func mergedValue(a apply.Accumulator) string {
	r, d := "r."+a.Name, "d."+a.Name
	switch a.Kind {
	case apply.Least:
		return "least(" + r + ", " + d + ")"
	case apply.Most:
		return "greatest(" + r + ", " + d + ")"
	}
	return "coalesce(" + r + ", 0) + " + d
}
