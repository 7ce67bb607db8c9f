package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// What a function returns may depend on more than its arguments and the settings of the session: on tables that it reads, on the time, on who asks.
// Declarations do not show it: STABLE is said of all of these, and IMMUTABLE is not checked. Bodies in SQL and plpgsql do, as far as DDL has them.
//
// A function in C is taken at its word. So is one in another language, or with a body that cannot be parsed, that is declared IMMUTABLE.

// Clocks are the functions whose result changes by itself.
var clocks = []string{
	"now", "transaction_timestamp", "statement_timestamp",
	"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
}

// IsClock reports whether one of PostgreSQL's own functions reads the clock. The age of a moment is counted from today.
func IsClock(function string, args int) bool {
	return slices.Contains(clocks, function) || function == "age" && args == 1
}

var (
	stateful  = regexp.MustCompile(`^(pg_\w+|has_\w+_privilege|(table|schema|database)_to_xml\w*|(col|obj|shobj)_description|current_(schemas?|setting)|getpgusername|inet_(client|server)_\w+|txid_\w+|to_reg\w+|row_security_active|mxid_age|format_type|regclass|ts_debug)$`)
	stateless = regexp.MustCompile(`^pg_(typeof|collation_for|input_\w+|char_to_encoding|encoding_to_char|client_encoding|basetype)$`)
)

// misdeclared are functions that PostgreSQL declares immutable although they read catalogs or the state of the server.
var misdeclared = []string{"pg_partition_root", "pg_walfile_name", "pg_walfile_name_offset"}

// IsStateful reports whether the result of one of PostgreSQL's own functions follows from its catalogs, the session or the server, which no
// trigger sees change.
func IsStateful(function string) bool {
	return slices.Contains(misdeclared, function) || builtin().functions[function].Most == sqltext.Stable && stateful.MatchString(function) && !stateless.MatchString(function)
}

// Outside says what the result of a function depends on besides its arguments.
type Outside struct {
	Function string // the one that is called, with those down to the one that does
	Does     string // such as: reads table public.rates
}

// OutsideIn finds what a function, an operator or a cast that a query uses depends on besides its arguments. Names are looked up along path; nil
// is the catalog's. The answer is about all that the name can mean.
func (c *Catalog) OutsideIn(path []string, use sqltext.Use) (Outside, bool) {
	if path == nil {
		path = c.path
	}
	return (&outsideSearch{Catalog: c}).used(path, use)
}

// outsideSearch follows calls, each function once.
type outsideSearch struct {
	*Catalog
	seen []string
}

func (s *outsideSearch) used(path []string, use sqltext.Use) (Outside, bool) {
	switch use.Kind {
	case sqltext.UsesFunction:
		return s.called(path, use.Schema, use.Name, use.Args)
	case sqltext.UsesOperator:
		for _, o := range overloads(s.operators, path, use.Schema, use.Name) {
			if found, ok := s.called(o.path, o.function.Schema, o.function.Name, anyArgs); ok {
				return found, true
			}
		}
	case sqltext.UsesType:
		for _, cast := range s.casts {
			if cast.Target == s.TypeIn(path, sqltext.Type{Schema: use.Schema, Name: use.Name}) {
				if found, ok := s.called(cast.path, cast.function.Schema, cast.function.Name, anyArgs); ok {
					return found, true
				}
			}
		}
	}
	return Outside{}, false
}

// called looks at all functions that a call can mean.
func (s *outsideSearch) called(path []string, schema, function string, args int) (Outside, bool) {
	for _, f := range overloads(s.functions, path, schema, function) {
		if !f.takes(args) || slices.Contains(s.seen, f.text) && f.text != "" {
			continue
		}
		s.seen = append(s.seen, f.text)
		if found, ok := s.of(f); ok {
			return found, true
		}
	}
	return Outside{}, false
}

func (s *outsideSearch) of(f Function) (Outside, bool) {
	does := func(what string, args ...any) (Outside, bool) {
		return Outside{Function: f.Name + "()", Does: fmt.Sprintf(what, args...)}, true
	}
	if f.Kind == ddl.AggregateRoutine {
		for _, support := range f.support {
			use := sqltext.Use{Kind: sqltext.UsesFunction, Schema: support.Schema, Name: support.Name}
			if what := builtinOutside(use); what != "" && len(overloads(s.functions, f.path, use.Schema, use.Name)) == 0 {
				return does("%s", what)
			}
			if found, ok := s.called(f.path, support.Schema, support.Name, anyArgs); ok {
				return Outside{Function: f.Name + "(), which calls " + found.Function, Does: found.Does}, true
			}
		}
		return Outside{}, false
	}
	body := s.body(f)
	switch {
	case len(body.Tables) > 0:
		return does("reads %s", s.readable(f.path, body.Tables[0]))
	case body.Dynamic:
		return does("runs statements that it makes")
	case !body.Understood && f.Volatility == sqltext.Stable && f.opaque():
		return does("has a body that is not understood")
	}
	for _, use := range body.Uses {
		if what := builtinOutside(use); what != "" && len(overloads(s.functions, f.path, use.Schema, use.Name)) == 0 {
			return does("%s", what)
		}
		if found, ok := s.used(f.path, use); ok {
			return Outside{Function: f.Name + "(), which calls " + found.Function, Does: found.Does}, true
		}
	}
	return Outside{}, false
}

// builtinOutside is what a function of PostgreSQL's own depends on.
func builtinOutside(use sqltext.Use) string {
	ours := use.Schema == "" || use.Schema == "pg_catalog"
	switch isCall := use.Kind == sqltext.UsesFunction; {
	case !ours || !isCall && use.Kind != sqltext.UsesSyntax:
		return ""
	case IsClock(use.Name, use.Args):
		return "depends on the time of day (" + use.Name + ")"
	case use.Kind == sqltext.UsesSyntax && (strings.HasPrefix(use.Name, "current_") || strings.HasSuffix(use.Name, "user")):
		return "depends on who calls it (" + use.Name + ")"
	case isCall && IsStateful(use.Name):
		return "depends on the state of the database or the session (" + use.Name + ")"
	case isCall && builtin().functions[use.Name].Known && builtin().functions[use.Name].Least == sqltext.Volatile:
		return "gives another result each time (" + use.Name + ")"
	}
	return ""
}

// opaque reports whether a function is in a language whose functions can read tables, and not in C.
func (f Function) opaque() bool {
	return !slices.Contains([]string{"c", "internal", ""}, strings.ToLower(f.Language))
}

// body is the body of a function, read once.
func (c *Catalog) body(f Function) sqltext.FunctionBody {
	if f.text == "" {
		return sqltext.FunctionBody{Understood: true} // such as the constructor of a range
	}
	body, known := c.bodies[f.text]
	if !known {
		body = sqltext.FunctionBodyOf(f.text)
		c.bodies[f.text] = body
	}
	return body
}

// readable names a relation as its readers know it.
func (c *Catalog) readable(path []string, ref *sqltext.TableRef) string {
	if r := c.RelationIn(path, ref.Schema, ref.Name); r != nil {
		return r.Kind.String() + " " + r.SQLName()
	}
	return name{ref.Schema, ref.Name}.String()
}
