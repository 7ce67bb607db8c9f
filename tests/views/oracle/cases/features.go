package cases

// Options say what cases are made of.
type Options struct {
	Views  int  // how many a case has
	Steps  int  // how many a case has
	All    bool // not only the SQL of Core but also that of Rest
	Simple bool // views read one relation, for subjects that keep no others
	// Recursive has queries that read themselves.
	Recursive bool
	// Folded is a sort of columns of text whose case does not matter to equality: nocase by a collation, citext by the type.
	Folded string
	// Special has NaN and infinite numbers in all cases, not only in some.
	Special bool
}

func (o Options) on(feature string) bool {
	if feature == "nocase" || feature == "citext" {
		return o.Folded == feature
	}
	return o.All || inCore[feature] && !(o.Simple && feature == "more aggregates")
}

// Core is the SQL that every stream table may use. Each feature turns up in views that a seed makes.
var Core = []string{
	"filter", "expression", "no table", "one table", "values", "unqualified", "plain view", "stream table",
	"inner join", "comma join", "cross join", "using", "natural join", "non-equi join", "or join", "self join", "nested join",
	"subquery", "with", "with twice", "with shadows", "with materialized",
	"group by", "group by nothing", "group by expression", "group by position", "group by key", "key not shown", "having",
	"aggregate filter", "distinct aggregate", "expression over aggregates", "aggregate over aggregate", "groups over groups", "join with own groups", "bit aggregate",
	"partition", "partitioned table", "child table", "parent table",
	"distinct", "union", "union all", "coercion", "null-safe join",
	"left join", "right join", "full join", "exists", "not exists", "in", "not in", "any", "all",
	"scalar subquery", "correlated subquery", "distinct on", "top n", "order by",
	"window", "window frame", "window clause", "window over groups", "filtered window", "grouping sets", "grouping", "more aggregates",
	"intersect", "except", "intersect all", "except all", "lateral", "first rows of each", "set-returning function", "test in expression", "nested test", "groups in test", "test in outer join", "derived in test",
	"whole row", "fields of a row",
	"aggregate in subquery", "grouping sets without aggregates", "having grouping", "subquery beside groups", "top n of groups",
}

// Rest is what other SQL the generator knows.
var Rest = []string{
	"recursive", "stable functions", "grouping in subquery",
}

var inCore = func() map[string]bool {
	in := map[string]bool{}
	for _, f := range Core {
		in[f] = true
	}
	return in
}()
