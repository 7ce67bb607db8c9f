package catalog

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// Signature is what a call of a function has to be like, and what it results in. Types are spelled as format_type does, without lengths; "" is one that
// only the server knows.
type Signature struct {
	Schema, Name string
	Kind         SignatureKind
	Args         []string
	Names        []string // of the arguments, "" where one has none; nil if none has, or if they are not known
	Defaults     int      // how many arguments, the last ones, may be left out
	Variadic     string   // type of which any number of arguments may follow; the last of Args is an array of it
	Result       string
	Set          bool
}

// SignatureKind is what kind of function it is.
type SignatureKind string

// The kinds of functions. Ordered and hypothetical ones are aggregates that take WITHIN GROUP.
const (
	PlainSignature        SignatureKind = "plain"
	AggregateSignature    SignatureKind = "aggregate"
	OrderedSignature      SignatureKind = "ordered"
	HypotheticalSignature SignatureKind = "hypothetical"
	WindowSignature       SignatureKind = "window"
)

// Aggregates reports whether it is an aggregate.
func (k SignatureKind) Aggregates() bool { return k != PlainSignature && k != WindowSignature }

// Signatures returns the functions that a name means along a search path, those first that come first in it; nil is the catalog's.
func (c *Catalog) Signatures(path []string, schema, function string) []Signature {
	if path == nil {
		path = c.path
	}
	var all []Signature
	if schema == "" || schema == "pg_catalog" {
		all = slices.Clone(builtin().signatures[function])
	}
	for _, f := range overloads(c.functions, path, schema, function) {
		all = append(all, f.signature())
	}
	return all
}

// NeedsDefinition reports whether a function returns rows whose columns a query has to list.
func (c *Catalog) NeedsDefinition(path []string, schema, function string) bool {
	made := c.FunctionIn(path, schema, function)
	own := (schema == "" || schema == "pg_catalog") && builtin().functions[function].Known
	for _, f := range made {
		if f.Returns != "record" || len(f.Columns) > 0 {
			return false
		}
	}
	if !own {
		return len(made) > 0
	}
	return len(builtin().columns[function]) == 0 && slices.Equal(builtin().returns[function], []string{"record"})
}

func (f Function) signature() Signature {
	s := Signature{Schema: f.Schema, Name: f.Name, Kind: signatureKinds[f.Kind], Args: f.Args, Names: f.ArgNames, Defaults: f.Defaults, Result: plainType(f.Returns), Set: f.SetReturning}
	switch {
	case f.Ordered > 0:
		s.Kind = OrderedSignature
	case len(f.Columns) == 1:
		s.Result = plainType(f.Columns[0].Type)
	case len(f.Columns) > 1:
		s.Result = "record"
	}
	if f.Variadic && len(f.Args) > 0 {
		s.Variadic = elementOf(f.Args[len(f.Args)-1])
	}
	return s
}

var signatureKinds = map[ddl.RoutineKind]SignatureKind{
	ddl.FunctionRoutine: PlainSignature, ddl.AggregateRoutine: AggregateSignature, ddl.WindowRoutine: WindowSignature,
}

// OperatorsIn returns the operators that a name means along a search path; nil is the catalog's.
func (c *Catalog) OperatorsIn(path []string, schema, operator string) []Operator {
	if path == nil {
		path = c.path
	}
	var all []Operator
	if schema == "" || schema == "pg_catalog" {
		all = slices.Clone(builtin().operators[operator])
	}
	for _, o := range overloads(c.operators, path, schema, operator) {
		if functions := overloads(c.functions, o.path, o.function.Schema, o.function.Name); len(functions) == 1 {
			o.Result = plainType(functions[0].Returns)
		}
		all = append(all, o)
	}
	return all
}

// OperatorNames returns the names of PostgreSQL's operators and of those that DDL makes.
func (c *Catalog) OperatorNames() []string {
	var names []string
	for operator := range builtin().operators {
		names = append(names, operator)
	}
	for key := range c.operators {
		names = append(names, key.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CastContext says where a cast is made.
type CastContext string

// Where a cast is made: everywhere, in assignments too, where it is written.
const (
	ImplicitCast   CastContext = "i"
	AssignmentCast CastContext = "a"
	ExplicitCast   CastContext = "e"
)

// Allows reports whether a cast of this context is made where one of another would do.
func (c CastContext) Allows(in CastContext) bool {
	return c == ImplicitCast || c == in || in == ExplicitCast
}

// Cast finds the cast between two types, as pg_cast has it.
func (c *Catalog) Cast(source, target string) (Cast, bool) {
	for _, cast := range c.casts {
		if cast.Source == source && cast.Target == target {
			return cast, true
		}
	}
	cast, found := builtin().casts[[2]string{source, target}]
	return cast, found
}
