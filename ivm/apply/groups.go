package apply

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Rule R4: a group is stored as what its aggregates follow from (accumulators) and the number of its rows. Δ of the rows adds up to Δ of
// those. Where a least or greatest value may have been removed, the group is recomputed.

// Groups are groups that are stored as accumulators.
type Groups struct {
	Node         *algebra.Aggregate
	Keys         []Key
	Accumulators []Accumulator
	Results      map[algebra.ColID]Result // of the aggregates
}

// Accumulator is what is stored of a group so that an aggregate follows from it: a sum, a count, or the least or greatest value.
type Accumulator struct {
	Name   string // of the column
	Input  string // of the column that holds Arg, which accumulators share
	Kind   Accumulation
	Arg    algebra.Scalar // of which rows' value; zero for a count of rows
	Filter []algebra.Scalar

	Special bool // a value may be NaN or infinite
	Row     bool // a value may be a row, which SQL calls null where it is one of nulls
}

// IsThere tests that there is a value.
func (a Accumulator) IsThere() string {
	if a.Row {
		return " is distinct from null"
	}
	return " is not null"
}

// Accumulation is how an accumulator follows changes.
type Accumulation string

// The accumulations.
const (
	Sum   Accumulation = "sum"
	Count Accumulation = "count"
	// Specials counts the values that are NaN or infinite, from which nothing can be taken away again: they are not in the sum.
	Specials Accumulation = "odd"
	// Scales counts the values of each scale, which quotients and texts of a sum depend on: the sum of rows that have gone keeps their digits.
	Scales Accumulation = "scales"
	Least  Accumulation = "min"
	Most   Accumulation = "max"
)

// Extreme reports whether what is taken away may be what is stored.
func (a Accumulator) Extreme() bool { return a.Kind == Least || a.Kind == Most }

// Result says how an aggregate follows from the columns of accumulators.
type Result struct {
	Column  string // that is the result; of Quotient and Total, the sum
	Kind    ResultKind
	Count   string // how many values there are
	Special string // how many of them are special; empty if none can be
	Scales  string // how many there are of each scale; empty if the scale is fixed
}

// ResultKind is how a result is computed.
type ResultKind int

// The kinds.
const (
	Stored   ResultKind = iota // it is stored
	Total                      // a sum, null of no values
	Quotient                   // an average
)

// GroupsOf are groups as accumulators; nil if an aggregate does not follow from such.
func GroupsOf(node *algebra.Aggregate, keys []Key, columns *algebra.Columns) *Groups {
	g := &Groups{Node: node, Keys: keys, Results: map[algebra.ColID]Result{}}
	for _, a := range node.Aggs {
		if a.Func == "" || a.Distinct {
			return nil
		}
		result, ok := g.follow(a, columns)
		if !ok {
			return nil
		}
		g.Results[a.ID] = result
	}
	return g
}

// follow adds the accumulators that an aggregate needs and returns how it follows from them.
func (g *Groups) follow(a algebra.Agg, columns *algebra.Columns) (r Result, ok bool) {
	switch {
	case a.Func == "count" && len(a.Args) == 0 && len(a.Filter) == 0:
		return Result{Column: Members}, true
	case a.Func == "count":
		var arg algebra.Scalar
		if len(a.Args) > 0 {
			arg = a.Args[0]
		}
		column := g.add(Count, arg, a.Filter)
		g.Accumulators[slices.IndexFunc(g.Accumulators, func(a Accumulator) bool { return a.Name == column })].Row = !sqltext.IsBuiltin(columns.TypeOf(arg))
		return Result{Column: column}, true
	case len(a.Args) != 1:
		return Result{}, false
	case a.Func == "min":
		return Result{Column: g.add(Least, a.Args[0], a.Filter)}, true
	case a.Func == "max":
		return Result{Column: g.add(Most, a.Args[0], a.Filter)}, true
	case a.Func == "sum":
		return g.sum(Total, a, columns)
	case a.Func == "avg":
		return g.sum(Quotient, a, columns)
	}
	return Result{}, false
}

// sum adds what a sum or an average of numbers needs.
func (g *Groups) sum(kind ResultKind, a algebra.Agg, columns *algebra.Columns) (r Result, ok bool) {
	number, special := sqltext.IsNumber(columns.TypeOf(a.Args[0]))
	if !number {
		return Result{}, false
	}
	r = Result{Kind: kind, Column: g.add(Sum, a.Args[0], a.Filter), Count: g.add(Count, a.Args[0], a.Filter)}
	if special && columns.ScaleOf(a.Args[0]) == sqltext.VariedScale {
		r.Scales = g.add(Scales, a.Args[0], a.Filter)
	}
	if special {
		g.mark(r.Column)
		r.Special = g.add(Specials, a.Args[0], a.Filter)
	}
	return r, true
}

// add adds an accumulator, unless the same one is there, and returns its column.
func (g *Groups) add(kind Accumulation, arg algebra.Scalar, filter []algebra.Scalar) string {
	name := fmt.Sprintf("__%s%d", kind, len(g.Accumulators)+1)
	input := ""
	for _, a := range g.Accumulators {
		if !sqltext.Equal(a.Arg.Expr, arg.Expr) || !sameAll(a.Filter, filter) {
			continue
		}
		if a.Kind == kind {
			return a.Name
		}
		if input == "" {
			input = a.Input
		}
	}
	if input == "" {
		input = name
	}
	g.Accumulators = append(g.Accumulators, Accumulator{Name: name, Input: input, Kind: kind, Arg: arg, Filter: filter})
	return name
}

// mark notes that a sum's values may be special.
func (g *Groups) mark(sum string) {
	for i := range g.Accumulators {
		g.Accumulators[i].Special = g.Accumulators[i].Special || g.Accumulators[i].Name == sum
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

// Columns are those that are stored.
func (g *Groups) Columns() []string {
	names := append(Names(g.Keys), Members)
	for _, a := range g.Accumulators {
		names = append(names, a.Name)
	}
	return names
}

// Extremes are the stored columns with least and greatest values.
func (g *Groups) Extremes() []string {
	var names []string
	for _, a := range g.Accumulators {
		if a.Extreme() {
			names = append(names, a.Name)
		}
	}
	return names
}

// Linear reports whether the groups' rows are those of one source, filtered and projected: the groups then add up its changes as they are.
func (g *Groups) Linear() bool { return Linear(g.Node.Input) }

// Linear reports whether nothing but filters and projections stands over a single source.
func Linear(n algebra.Node) bool {
	for {
		switch at := n.(type) {
		case *algebra.Project:
			n = at.Input
		case *algebra.Filter:
			n = at.Input
		case *algebra.Source:
			return true
		default:
			return false
		}
	}
}
