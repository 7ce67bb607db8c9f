package sqltext

import "slices"

// Aggregates of PostgreSQL's that make the same of rows in any order, and those that do so but for the rounding of floating-point numbers.
var (
	unordered = []string{"count", "min", "max", "bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor", "range_agg", "range_intersect_agg", "regr_count"}
	rounding  = []string{
		"sum", "avg", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp", "corr", "covar_pop", "covar_samp",
		"regr_avgx", "regr_avgy", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "regr_syy",
	}
)

// TakesAnyOrder reports whether an aggregate of PostgreSQL's makes the same of rows in any order, and whether it does but for the rounding of floating-point numbers.
func TakesAnyOrder(aggregate string) (same, rounds bool) {
	return slices.Contains(unordered, aggregate), slices.Contains(rounding, aggregate)
}
