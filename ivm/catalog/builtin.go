package catalog

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

//go:embed builtin.txt
var builtinText string

// builtins is what PostgreSQL itself has, over all versions that Sluice knows.
type builtins struct {
	types     map[string]bool
	functions map[string]Callable
	columns   map[string][][]string // of the results of functions, as far as they have any
	returns   map[string][]string   // results of functions that follow from arguments, or from the call
	relations map[name][][]string   // the columns of catalogs
	operators map[string][]Operator
	casts     []Cast
}

// builtin reads builtin.txt, which builtin.sql makes.
var builtin = sync.OnceValue(func() *builtins {
	b := &builtins{
		types: map[string]bool{}, functions: map[string]Callable{}, operators: map[string][]Operator{},
		columns: map[string][][]string{}, returns: map[string][]string{}, relations: map[name][][]string{},
	}
	for line := range strings.Lines(builtinText) {
		if !strings.HasPrefix(line, "#") {
			b.add(strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	for name, f := range b.functions {
		f.Plain = !f.Aggregate && !f.Window
		b.functions[name] = f
	}
	return b
})

func (b *builtins) add(fields []string) {
	last := fields[len(fields)-1]
	switch fields[0] {
	case "type":
		b.types[last] = true
	case "function":
		callable := b.functions[fields[1]]
		callable.addWord(last)
		b.functions[fields[1]] = callable
	case "columns":
		b.columns[fields[1]] = append(b.columns[fields[1]], strings.Split(last, ","))
	case "returns":
		b.returns[fields[1]] = append(b.returns[fields[1]], last)
	case "relation":
		key := name{fields[1], fields[2]}
		b.relations[key] = append(b.relations[key], strings.Split(last, ","))
	case "operator":
		o := Operator{Schema: "pg_catalog", Name: fields[1], Left: fields[2], Right: fields[3], Volatility: volatilities[last]}
		b.operators[o.Name] = append(b.operators[o.Name], o)
	case "cast":
		b.casts = append(b.casts, Cast{Source: fields[1], Target: fields[2], Volatility: volatilities[last]})
	}
}

var volatilities = map[string]sqltext.Volatility{"immutable": sqltext.Immutable, "stable": sqltext.Stable, "volatile": sqltext.Volatile}

// addWord adds what one line of the file says of a function.
func (c *Callable) addWord(word string) {
	switch word {
	case "set":
		c.Set = true
	case "aggregate":
		c.Aggregate = true
	case "window":
		c.Window = true
	default:
		v := volatilities[word]
		if !c.Known {
			c.Known, c.Least, c.Most = true, v, v
		}
		c.Least, c.Most = min(c.Least, v), max(c.Most, v)
	}
}
