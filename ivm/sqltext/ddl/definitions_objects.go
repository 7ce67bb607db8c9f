package ddl

import (
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// CreateType is CREATE TYPE or CREATE DOMAIN.
type CreateType struct {
	place
	Name      ObjectName
	Kind      TypeKind
	Columns   []TableColumn // of a composite type
	Labels    []string      // of an enum
	Base      sqltext.Type  // of a domain
	Collation ObjectName    // of a domain
	NotNull   bool          // of a domain
	Checks    []string      // conditions of a domain, as they stand in the script
	Multi     ObjectName    // the multirange type of a range type, if it is named
}

// TypeKind says how a type is made.
type TypeKind int

// The kinds of types. A base type is written in C, or only announced so far.
const (
	BaseType TypeKind = iota
	EnumType
	CompositeType
	RangeType
	DomainType
)

// AlterDomain is ALTER DOMAIN … SET or DROP NOT NULL.
type AlterDomain struct {
	place
	Name    ObjectName
	NotNull bool
}

// AlterEnum is ALTER TYPE … ADD VALUE or RENAME VALUE.
type AlterEnum struct {
	place
	Name     ObjectName
	Old, New string // Old is empty where a label is added
}

// Block is DO, which may make anything.
type Block struct{ place }

// CreateExtension is CREATE EXTENSION. Schema is empty where the script leaves it out.
type CreateExtension struct {
	place
	Name, Schema string
}

// CreateCollation is CREATE COLLATION.
type CreateCollation struct {
	place
	Name          ObjectName
	Deterministic bool
	From          ObjectName // the collation it copies
}

// CreateTextSearch is CREATE TEXT SEARCH CONFIGURATION or DICTIONARY.
type CreateTextSearch struct {
	place
	Name       ObjectName
	Dictionary bool
}

// CreateRoutine is CREATE FUNCTION, CREATE PROCEDURE or CREATE AGGREGATE.
type CreateRoutine struct {
	place
	Name       ObjectName
	Kind       RoutineKind
	Args       []sqltext.Type // of the input arguments
	ArgNames   []string       // of a function; "" of one without a name
	Defaults   int            // how many arguments, the last ones, may be left out
	Variadic   bool
	Ordered    int // how many arguments of an aggregate, the last ones, stand in WITHIN GROUP
	Volatility sqltext.Volatility
	Set        bool          // returns any number of rows
	Returns    sqltext.Type  // zero if the columns say it
	Columns    []TableColumn // of RETURNS TABLE and OUT arguments
	Language   string
	Support    []ObjectName // the functions of an aggregate
	Text       string       // the statement
	Path       []string     // the search_path that it sets; nil if it sets none
}

// RoutineKind says how a routine is called.
type RoutineKind int

// The kinds of routines.
const (
	FunctionRoutine RoutineKind = iota
	ProcedureRoutine
	AggregateRoutine
	WindowRoutine
)

// AlterRoutine is ALTER FUNCTION … IMMUTABLE, STABLE or VOLATILE.
type AlterRoutine struct {
	place
	Routine    Signature
	Volatility sqltext.Volatility
}

// Signature names a routine or an operator in ALTER and DROP.
type Signature struct {
	ObjectName
	Args    []sqltext.Type
	AnyArgs bool // no arguments are given
}

// CreateOperator is CREATE OPERATOR. Left is zero for a prefix operator.
type CreateOperator struct {
	place
	Name        ObjectName
	Left, Right sqltext.Type
	Function    ObjectName
}

// CreateCast is CREATE CAST. Function is zero where it has none.
type CreateCast struct {
	place
	Source, Target       sqltext.Type
	Function             ObjectName
	Implicit, Assignment bool // it is made everywhere; in assignments
}

// CreateOperatorClass is CREATE OPERATOR CLASS.
type CreateOperatorClass struct {
	place
	Type     sqltext.Type
	Method   string // such as btree
	Default  bool   // for the type
	Extended bool   // it has FUNCTION 2, which in a hash class takes a seed
}
