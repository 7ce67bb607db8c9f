package catalog

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

//go:embed builtin.txt
var builtinText string

// builtins is what PostgreSQL itself has, over all versions that Sluice knows.
type builtins struct {
	types      map[string]bool // by the names that scripts use, such as int4
	kinds      map[string]TypeInfo
	functions  map[string]Callable
	signatures map[string][]Signature
	columns    map[string][][]Column // of the results of functions, as far as they have any
	returns    map[string][]string   // results of functions that follow from arguments, or from the call
	relations  map[name][][]string   // the columns of catalogs
	operators  map[string][]Operator
	casts      map[[2]string]Cast // by source and target
	through    []Cast             // by way of text
}

// builtin reads builtin.txt, which builtin.sql makes.
var builtin = sync.OnceValue(func() *builtins {
	b := &builtins{
		types: map[string]bool{}, kinds: map[string]TypeInfo{}, functions: map[string]Callable{}, signatures: map[string][]Signature{},
		operators: map[string][]Operator{}, casts: map[[2]string]Cast{},
		columns: map[string][][]Column{}, returns: map[string][]string{}, relations: map[name][][]string{},
	}
	for line := range strings.Lines(builtinText) {
		if !strings.HasPrefix(line, "#") {
			b.add(strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return b
})

func (b *builtins) add(fields []string) {
	switch fields[0] {
	case "type":
		info := typeInfo(fields[3:])
		info.Differs = b.types[fields[2]]
		b.types[fields[2]], b.kinds[fields[1]] = true, info
	case "function":
		b.addFunction(fields[1:])
	case "columns":
		names, types := strings.Split(fields[2], ","), strings.Split(fields[3], ",")
		var columns []Column
		for i, name := range names {
			columns = append(columns, Column{Name: name, Type: types[i]})
		}
		b.columns[fields[1]] = append(b.columns[fields[1]], columns)
	case "returns":
		b.returns[fields[1]] = append(b.returns[fields[1]], fields[2])
	case "relation":
		key := name{fields[1], fields[2]}
		b.relations[key] = append(b.relations[key], strings.Split(fields[3], ","))
	case "operator":
		o := Operator{Schema: "pg_catalog", Name: fields[1], Left: fields[2], Right: fields[3], Volatility: volatilities[fields[4]], Result: fields[5]}
		b.operators[o.Name] = append(b.operators[o.Name], o)
	case "cast":
		b.casts[[2]string{fields[1], fields[2]}] = Cast{Source: fields[1], Target: fields[2], Context: CastContext(fields[3]), Calls: fields[4] == "f", Volatility: volatilities[fields[5]]}
	case "through":
		b.through = append(b.through, Cast{Source: fields[1], Target: fields[2], Context: ExplicitCast, Volatility: volatilities[fields[3]]})
	}
}

var volatilities = map[string]sqltext.Volatility{"immutable": sqltext.Immutable, "stable": sqltext.Stable, "volatile": sqltext.Volatile}

// addFunction reads what builtin.sql says of a function.
func (b *builtins) addFunction(fields []string) {
	s := Signature{
		Schema: "pg_catalog", Name: fields[0], Kind: SignatureKind(fields[1]), Set: fields[3] == "set",
		Args: list(fields[4]), Variadic: fields[6], Result: fields[7], Names: list(fields[8]),
	}
	s.Defaults, _ = strconv.Atoi(fields[5])
	v := volatilities[fields[2]]
	b.functions[s.Name] = b.functions[s.Name].with(Callable{
		Known: true, Least: v, Most: v, Set: s.Set, Plain: s.Kind == PlainSignature, Window: s.Kind == WindowSignature, Aggregate: s.Kind.Aggregates(),
	})
	same := func(o Signature) bool { return o.Kind == s.Kind && slices.Equal(o.Args, s.Args) }
	if at := slices.IndexFunc(b.signatures[s.Name], same); at >= 0 { // versions differ in something else
		b.signatures[s.Name][at] = s
		return
	}
	b.signatures[s.Name] = append(b.signatures[s.Name], s)
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
