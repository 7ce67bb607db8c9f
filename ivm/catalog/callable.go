package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// Callable is what a call of a function can mean, over all functions of its name that take as many arguments.
type Callable struct {
	Known       bool               // by DDL or by PostgreSQL; what is unknown may come from an extension
	Least, Most sqltext.Volatility // of the best and of the worst of them
	Set         bool               // one of them returns any number of rows
	Plain       bool               // one of them is an ordinary function
	Aggregate   bool               // one of them is an aggregate
	Window      bool               // one of them is a window function
}

// anyArgs stands for a number of arguments that is not known.
const anyArgs = -1

// Callable describes what a call can mean. PostgreSQL's own functions are known by their names alone, not by their arguments.
func (c *Catalog) Callable(schema, function string, args int) Callable {
	return c.CallableIn(c.path, schema, function, args)
}

// CallableIn is Callable along another search path, such as a view's; nil is the catalog's.
func (c *Catalog) CallableIn(path []string, schema, function string, args int) Callable {
	if path == nil {
		path = c.path
	}
	var found Callable
	for _, f := range overloads(c.functions, path, schema, function) {
		if f.takes(args) {
			found = found.with(f.callable())
		}
	}
	if schema == "" || schema == "pg_catalog" {
		found = found.with(builtin().functions[function])
	}
	return found
}

// takes reports whether a call may have so many arguments.
func (f Function) takes(args int) bool {
	least := len(f.Args) - f.Defaults - f.Ordered
	if f.Variadic {
		least = min(least, len(f.Args)-1)
	}
	return args == anyArgs || args >= least && (args <= len(f.Args) || f.Variadic)
}

func (f Function) callable() Callable {
	return Callable{
		Known: true, Least: f.Volatility, Most: f.Volatility, Set: f.SetReturning,
		Plain:     f.Kind == ddl.FunctionRoutine,
		Aggregate: f.Kind == ddl.AggregateRoutine,
		Window:    f.Kind == ddl.WindowRoutine,
	}
}

// with is what a call can mean if there is another function of the same name.
func (c Callable) with(other Callable) Callable {
	switch {
	case !other.Known:
		return c
	case !c.Known:
		return other
	}
	return Callable{
		Known: true, Least: min(c.Least, other.Least), Most: max(c.Most, other.Most),
		Set: c.Set || other.Set, Plain: c.Plain || other.Plain, Aggregate: c.Aggregate || other.Aggregate, Window: c.Window || other.Window,
	}
}

// FunctionNames returns the names of all functions, PostgreSQL's own included, for diag.Nearest.
func (c *Catalog) FunctionNames() []string {
	names := slices.Collect(maps.Keys(builtin().functions))
	for key := range c.functions {
		names = append(names, key.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Operators returns the operators of this name that DDL makes, and those of PostgreSQL that are not immutable.
func (c *Catalog) Operators(schema, operator string) []Operator {
	found := overloads(c.operators, c.path, schema, operator)
	if schema != "" && schema != "pg_catalog" {
		return found
	}
	for _, o := range builtin().operators[operator] {
		if o.Volatility != sqltext.Immutable {
			found = append(found, o)
		}
	}
	return found
}

// Casts returns the casts to a type that DDL makes with a function, and those of PostgreSQL that are not immutable, through text too.
func (c *Catalog) Casts(target string) []Cast {
	var found []Cast
	for _, cast := range c.casts {
		if cast.Target == target && cast.function.Name != "" {
			found = append(found, cast)
		}
	}
	b := builtin()
	for _, cast := range slices.Concat(slices.SortedFunc(maps.Values(b.casts), bySource), b.through) {
		if cast.Target == target && cast.Volatility != sqltext.Immutable {
			found = append(found, cast)
		}
	}
	return found
}

func bySource(a, b Cast) int { return strings.Compare(a.Source, b.Source) }
