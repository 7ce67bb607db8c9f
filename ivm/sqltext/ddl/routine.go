package ddl

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

func (r *reader) createFunction(n *pg_query.CreateFunctionStmt) {
	f := &CreateRoutine{Name: r.objectName(n.Funcname), Volatility: sqltext.Volatile, Language: sqltext.FunctionLanguage(n), Text: r.text}
	f.place = place(f.Name.Pos)
	if n.IsProcedure {
		f.Kind = ProcedureRoutine
	}
	for _, node := range n.Parameters {
		r.parameter(f, node.GetFunctionParameter())
	}
	if returns := r.typeName(n.ReturnType); len(f.Columns) == 0 {
		f.Returns, f.Set = returns, returns.Set
	} else {
		f.Set = f.Set || returns.Set
	}
	r.functionOptions(f, n.Options)
	r.add(f)
}

func (r *reader) parameter(f *CreateRoutine, p *pg_query.FunctionParameter) {
	t := r.typeName(p.ArgType)
	mode := p.Mode
	table := mode == pg_query.FunctionParameterMode_FUNC_PARAM_TABLE
	if table || mode == pg_query.FunctionParameterMode_FUNC_PARAM_OUT || mode == pg_query.FunctionParameterMode_FUNC_PARAM_INOUT {
		f.Columns = append(f.Columns, TableColumn{Pos: t.Pos, Name: p.Name, Type: t})
		f.Set = f.Set || table
	}
	if table || mode == pg_query.FunctionParameterMode_FUNC_PARAM_OUT {
		return
	}
	f.Args, f.ArgNames = append(f.Args, t), append(f.ArgNames, p.Name)
	f.Variadic = mode == pg_query.FunctionParameterMode_FUNC_PARAM_VARIADIC
	if p.Defexpr != nil {
		f.Defaults++
	}
}

func (r *reader) functionOptions(f *CreateRoutine, options []*pg_query.Node) {
	for _, node := range options {
		switch option := node.GetDefElem(); option.GetDefname() {
		case "volatility":
			f.Volatility = volatility(option)
		case "window":
			f.Kind = WindowRoutine
		case "set":
			if set := option.GetArg().GetVariableSetStmt(); set.GetName() == "search_path" {
				f.Path = schemasOf(set)
			}
		}
	}
}

func volatility(option *pg_query.DefElem) sqltext.Volatility {
	switch option.GetArg().GetString_().GetSval() {
	case "immutable":
		return sqltext.Immutable
	case "stable":
		return sqltext.Stable
	}
	return sqltext.Volatile
}

func (r *reader) alterFunction(n *pg_query.AlterFunctionStmt) {
	for _, action := range n.Actions {
		if option := action.GetDefElem(); option.GetDefname() == "volatility" {
			s := r.withArgs(n.Func)
			r.add(&AlterRoutine{place: place(s.Pos), Routine: s, Volatility: volatility(option)})
		}
	}
}

func (r *reader) createCast(n *pg_query.CreateCastStmt) {
	c := &CreateCast{
		Source: r.typeName(n.Sourcetype), Target: r.typeName(n.Targettype),
		Implicit: n.Context == pg_query.CoercionContext_COERCION_IMPLICIT, Assignment: n.Context == pg_query.CoercionContext_COERCION_ASSIGNMENT,
	}
	if n.Func != nil {
		c.Function = r.objectName(n.Func.Objname)
	}
	c.place = place(c.Source.Pos)
	r.add(c)
}

func (r *reader) createOperatorClass(n *pg_query.CreateOpClassStmt) {
	c := &CreateOperatorClass{Type: r.typeName(n.Datatype), Method: n.Amname, Default: n.IsDefault}
	c.place = place(c.Type.Pos)
	for _, node := range n.Items {
		item := node.GetCreateOpClassItem()
		c.Extended = c.Extended || item.GetItemtype() == opclassFunction && item.GetNumber() == 2
	}
	r.add(c)
}

// opclassFunction is OPCLASS_ITEM_FUNCTION of PostgreSQL's parser.
const opclassFunction = 2

// define reads the statements that share the form CREATE … (name = value, …).
func (r *reader) define(n *pg_query.DefineStmt) {
	name := r.objectName(n.Defnames)
	options := map[string]*pg_query.Node{}
	for _, node := range n.Definition {
		option := node.GetDefElem()
		options[strings.ToLower(option.GetDefname())] = option.GetArg()
	}
	switch n.Kind {
	case pg_query.ObjectType_OBJECT_AGGREGATE:
		r.createAggregate(n, name, options)
	case pg_query.ObjectType_OBJECT_OPERATOR:
		r.createOperator(name, options)
	case pg_query.ObjectType_OBJECT_COLLATION:
		r.createCollation(name, options)
	case pg_query.ObjectType_OBJECT_TYPE:
		r.add(&CreateType{place: place(name.Pos), Name: name})
	case pg_query.ObjectType_OBJECT_TSCONFIGURATION, pg_query.ObjectType_OBJECT_TSDICTIONARY:
		r.add(&CreateTextSearch{place: place(name.Pos), Name: name, Dictionary: n.Kind == pg_query.ObjectType_OBJECT_TSDICTIONARY})
	}
}

// supportFunctions are the options of an aggregate that name a function.
var supportFunctions = []string{"sfunc", "sfunc1", "finalfunc", "combinefunc", "serialfunc", "deserialfunc", "msfunc", "minvfunc", "mfinalfunc"}

func (r *reader) createAggregate(n *pg_query.DefineStmt, name ObjectName, options map[string]*pg_query.Node) {
	f := &CreateRoutine{place: place(name.Pos), Name: name, Kind: AggregateRoutine}
	if base, ok := options["basetype"]; ok && n.Oldstyle {
		f.Args = append(f.Args, r.typeName(base.GetTypeName()))
	} else if len(n.Args) == 2 {
		for _, node := range n.Args[0].GetList().GetItems() {
			r.parameter(f, node.GetFunctionParameter())
		}
		if direct := n.Args[1].GetInteger().GetIval(); direct >= 0 {
			f.Ordered = len(f.Args) - int(direct)
		}
	}
	for _, option := range supportFunctions {
		if function := r.optionName(options[option]); function.Name != "" {
			f.Support = append(f.Support, function)
		}
	}
	r.add(f)
}

func (r *reader) createOperator(name ObjectName, options map[string]*pg_query.Node) {
	o := &CreateOperator{place: place(name.Pos), Name: name}
	o.Left = r.typeName(options["leftarg"].GetTypeName())
	o.Right = r.typeName(options["rightarg"].GetTypeName())
	for _, option := range []string{"function", "procedure"} {
		if function := r.optionName(options[option]); function.Name != "" {
			o.Function = function
		}
	}
	r.add(o)
}

func (r *reader) createCollation(name ObjectName, options map[string]*pg_query.Node) {
	c := &CreateCollation{place: place(name.Pos), Name: name, Deterministic: true, From: r.optionName(options["from"])}
	if option := options["deterministic"]; option != nil {
		c.Deterministic = !slices.Contains([]string{"false", "off", "0"}, optionWord(option))
	}
	r.add(c)
}

// optionName is the value of an option that names a function, an operator or a collation.
func (r *reader) optionName(value *pg_query.Node) ObjectName {
	if list := value.GetList(); list != nil {
		return r.objectName(list.Items)
	}
	return r.objectName(value.GetTypeName().GetNames())
}

// optionWord is the value of an option that is a word, a string, a number or a truth value.
func optionWord(value *pg_query.Node) string {
	switch v := value.GetNode().(type) {
	case *pg_query.Node_TypeName:
		names := sqltext.Strings(v.TypeName.Names)
		return strings.ToLower(names[len(names)-1])
	case *pg_query.Node_String_:
		return strings.ToLower(v.String_.Sval)
	case *pg_query.Node_Integer:
		return string('0' + v.Integer.Ival)
	case *pg_query.Node_Boolean:
		if v.Boolean.Boolval {
			return "true"
		}
		return "false"
	}
	return ""
}
