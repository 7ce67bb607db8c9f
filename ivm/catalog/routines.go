package catalog

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// Function is a function, procedure or aggregate that DDL makes.
type Function struct {
	Schema, Name string
	Kind         ddl.RoutineKind
	Args         []string // types of the input arguments, as Column.Type spells them; empty if any will do
	ArgNames     []string // "" of one without a name; nil if they are not known
	Defaults     int      // how many arguments, the last ones, may be left out
	Variadic     bool     // the last argument may be repeated
	Ordered      int      // how many arguments of an aggregate, the last ones, stand in WITHIN GROUP
	Volatility   sqltext.Volatility
	SetReturning bool
	Returns      string   // type; empty if Columns say it
	Columns      []Column // of RETURNS TABLE and OUT arguments
	Language     string

	text    string           // the statement that makes it
	path    []string         // along which its body looks names up
	support []ddl.ObjectName // of an aggregate: the functions that it calls
}

// Operator is an operator with its volatility. Left is empty for a prefix operator.
type Operator struct {
	Schema, Name string
	Left, Right  string // types, as Column.Type spells them
	Result       string // type; "" if only the server knows
	Volatility   sqltext.Volatility

	function ddl.ObjectName
	path     []string // along which that is looked up
}

// Cast is a cast with its volatility.
type Cast struct {
	Source, Target string // types, as Column.Type spells them
	Context        CastContext
	Calls          bool // it calls a function
	Volatility     sqltext.Volatility

	function ddl.ObjectName
	path     []string // along which that is looked up
}

// Function returns the functions of this name that DDL makes. Without a schema it is looked up along the search path.
func (c *Catalog) Function(schema, function string) []Function {
	return overloads(c.functions, c.path, schema, function)
}

// FunctionIn is Function along another search path, such as a view's; nil is the catalog's.
func (c *Catalog) FunctionIn(path []string, schema, function string) []Function {
	if path == nil {
		path = c.path
	}
	return overloads(c.functions, path, schema, function)
}

// overloads finds all objects of a name, in its schema or along a search path.
func overloads[T any](objects map[name][]T, path []string, schema, object string) []T {
	if schema != "" {
		path = []string{schema}
	}
	var found []T
	for _, schema := range path {
		found = append(found, objects[name{schema, object}]...)
	}
	return found
}

func (s *script) createRoutine(d *ddl.CreateRoutine) {
	key, ok := s.newName(d.Name)
	if !ok {
		return
	}
	f := Function{
		Schema: key.schema, Name: key.name, Kind: d.Kind, Args: s.typeNames(d.Args), ArgNames: d.ArgNames, Defaults: d.Defaults, Variadic: d.Variadic, Ordered: d.Ordered,
		Volatility: d.Volatility, SetReturning: d.Set, Language: d.Language,
		text: d.Text, path: s.path, support: d.Support,
	}
	if d.Path != nil {
		f.path = d.Path
	}
	for _, c := range d.Columns {
		f.Columns = append(f.Columns, s.column(c))
	}
	if !d.Returns.IsZero() {
		f.Returns = s.resolve(d.Returns).SQL()
	}
	s.addFunction(f)
}

// addFunction adds a function in place of the one with the same arguments.
func (c *Catalog) addFunction(f Function) {
	key := name{f.Schema, f.Name}
	others := slices.DeleteFunc(c.functions[key], func(o Function) bool { return slices.Equal(o.Args, f.Args) })
	c.functions[key] = append(others, f)
}

func (s *script) typeNames(types []sqltext.Type) []string {
	var names []string
	for _, t := range types {
		s.checkType(t)
		if t = s.resolve(t); t.IsZero() {
			names = append(names, "")
			continue
		}
		t.Modifier = ""
		names = append(names, t.SQL())
	}
	return names
}

// functionVolatility is the worst that a function of this name can be.
func (s *script) functionVolatility(f ddl.ObjectName) sqltext.Volatility {
	return s.CallableIn(s.path, f.Schema, f.Name, anyArgs).Most
}

// matching finds the functions that ALTER and DROP name.
func (s *script) matching(sig ddl.Signature) (key name, same func(Function) bool) {
	args := s.typeNames(sig.Args)
	same = func(f Function) bool { return sig.AnyArgs || slices.Equal(f.Args, args) }
	for _, f := range overloads(s.functions, s.path, sig.Schema, sig.Name) {
		if same(f) {
			return name{f.Schema, f.Name}, same
		}
	}
	return name{}, same
}

func (s *script) alterRoutine(d *ddl.AlterRoutine) {
	key, same := s.matching(d.Routine)
	for i, f := range s.functions[key] {
		if same(f) {
			s.functions[key][i].Volatility = d.Volatility
		}
	}
}

func (s *script) renameRoutine(d *ddl.Rename) {
	key, same := s.matching(d.Object)
	for _, f := range slices.Clone(s.functions[key]) {
		if same(f) {
			s.dropRoutine(d.Object)
			to := renamed(key, d.To)
			f.Schema, f.Name = to.schema, to.name
			s.addFunction(f)
		}
	}
}

func (s *script) dropRoutine(sig ddl.Signature) {
	key, same := s.matching(sig)
	s.functions[key] = slices.DeleteFunc(s.functions[key], same)
}

func (s *script) createOperator(d *ddl.CreateOperator) {
	key, ok := s.newName(d.Name)
	if !ok {
		return
	}
	types := s.typeNames([]sqltext.Type{d.Left, d.Right})
	o := Operator{
		Schema: key.schema, Name: key.name, Left: types[0], Right: types[1], Volatility: s.functionVolatility(d.Function),
		function: d.Function, path: s.path,
	}
	s.operators[key] = append(s.operators[key], o)
}

func (s *script) dropOperator(sig ddl.Signature) {
	types := s.typeNames(sig.Args)
	for key := range s.operators {
		if key.name == sig.Name && (sig.Schema == key.schema || sig.Schema == "" && slices.Contains(s.path, key.schema)) {
			s.operators[key] = slices.DeleteFunc(s.operators[key], func(o Operator) bool { return slices.Equal(types, []string{o.Left, o.Right}) })
		}
	}
}

func (s *script) createCast(d *ddl.CreateCast) {
	types := s.typeNames([]sqltext.Type{d.Source, d.Target})
	c := Cast{Source: types[0], Target: types[1], Context: ExplicitCast, Calls: d.Function.Name != "", function: d.Function, path: s.path}
	switch {
	case d.Implicit:
		c.Context = ImplicitCast
	case d.Assignment:
		c.Context = AssignmentCast
	}
	if d.Function.Name != "" {
		c.Volatility = s.functionVolatility(d.Function)
	}
	s.casts = append(s.casts, c)
}
