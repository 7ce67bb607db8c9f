package typing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// call is the type of a call, with what it is not allowed to be.
func (c *Checker) call(call sqltext.Call) string {
	args := slices.Clone(call.Args)
	for _, item := range call.Order {
		if call.WithinGroup {
			args = append(args, item.Expr)
		} else {
			c.Sortable(item.Expr, item.Using)
		}
	}
	types := c.types(args)
	c.Window(call.Over)
	if !call.Filter.IsZero() {
		c.Boolean(call.Filter, "FILTER")
	}
	if call.Distinct {
		for i, typ := range types {
			c.groupable(typ, args[i].At())
		}
	}
	signatures := c.Catalog.Signatures(c.Path, call.Schema, call.Name)
	if len(signatures) == 0 {
		return c.unknownFunction(call, types)
	}
	all := candidates(called(signatures, call.Names), len(types), call.Variadic)
	if slices.Contains(types, "") {
		return c.agreed(types, all)
	}
	found, ok := c.function(call, types, all)
	if !ok {
		return ""
	}
	c.usage(call, found.kind)
	for i, typ := range types {
		if typ == Unknown {
			c.literal(args[i], c.settled(types, found.args, i))
		}
	}
	if undetermined(types, found.args) {
		c.report(call.Pos, noPolymorphic)
	}
	result, _ := c.generic(types, found.args, found.result)
	return result
}

// function finds the function that is meant: func_get_detail of parse_func.c.
func (c *Checker) function(call sqltext.Call, types []string, all []candidate) (candidate, bool) {
	if found, ok := exact(types, all); ok {
		return found, true
	}
	if target := c.asCast(call, types); target != "" {
		return candidate{args: []string{target}, result: target, kind: catalog.PlainSignature}, true
	}
	matching := c.matching(types, all)
	switch found, ok := c.choose(types, matching); {
	case ok:
		return found, true
	case len(matching) > 0:
		c.ambiguous(call.Pos, manyFunctions, c.signature(call, types))
	default:
		c.noFunction(call, types)
	}
	return candidate{}, false
}

// candidates are the functions that take so many arguments: FuncnameGetCandidates. Of several with the same ones, the first is meant, and rather one
// that is called with all its arguments as they are.
func candidates(signatures []catalog.Signature, n int, variadic bool) []candidate {
	var all []candidate
	for _, s := range signatures {
		cand := candidate{kind: s.Kind, set: s.Set, result: s.Result, least: max(0, len(s.Args)-n)}
		dots := s.Variadic != "" && !variadic
		if cand.least > s.Defaults || len(s.Args) < n && !dots {
			continue
		}
		cand.args = slices.Clone(s.Args)
		if dots {
			cand.dots, cand.args = true, cand.args[:len(cand.args)-1]
			for len(cand.args) < max(n, len(s.Args)) {
				cand.args = append(cand.args, s.Variadic)
			}
		}
		cand.args = cand.args[:n]
		same := slices.IndexFunc(all, func(o candidate) bool { return slices.Equal(o.args, cand.args) })
		if same < 0 {
			all = append(all, cand)
		} else if all[same].dots && !cand.dots || all[same].dots == cand.dots && cand.least < all[same].least {
			all[same] = cand
		}
	}
	return all
}

// asCast is the type that a call with the name of a type casts to: int4(x).
func (c *Checker) asCast(call sqltext.Call, types []string) string {
	if len(types) != 1 || call.Star || call.Over != nil {
		return ""
	}
	target := c.Catalog.PlainType(c.namedType(call))
	to, known := c.Catalog.TypeInfo(target)
	from, _ := c.Catalog.TypeInfo(c.Catalog.BaseType(types[0]))
	cast, has := c.Catalog.Cast(c.Catalog.BaseType(types[0]), c.Catalog.BaseType(target))
	switch {
	case !known || to.Kind == catalog.CompositeKind:
		return ""
	case types[0] == Unknown:
		return target
	case has && cast.Calls && cast.Source != cast.Target: // which is called by its own name
		return ""
	case (from.Kind == catalog.CompositeKind || types[0] == Record) && to.Category == catalog.StringCategory:
		return ""
	case c.coercible(types[0], target, catalog.ExplicitCast) == yes:
		return target
	}
	return ""
}

// called are the functions that have arguments of these names, in the order of the call; "" stands for one by its position. Those that are left out
// follow, and have to have defaults.
func called(signatures []catalog.Signature, names []string) []catalog.Signature {
	if names == nil {
		return signatures
	}
	var all []catalog.Signature
	for _, s := range signatures {
		if ordered, ok := inOrder(s, names); ok {
			all = append(all, ordered)
		}
	}
	return all
}

// inOrder is a function with its arguments in the order of a call.
func inOrder(s catalog.Signature, names []string) (catalog.Signature, bool) {
	args, given := make([]string, 0, len(s.Args)), make([]bool, len(s.Args))
	for i, name := range names {
		at := i
		if name != "" {
			at = slices.Index(s.Names, name)
		}
		if at < 0 || at >= len(s.Args) || given[at] {
			return s, false
		}
		args, given[at] = append(args, s.Args[at]), true
	}
	for at, typ := range s.Args {
		if !given[at] {
			if at < len(s.Args)-s.Defaults {
				return s, false
			}
			args = append(args, typ)
		}
	}
	s.Args, s.Variadic = args, ""
	return s, true
}

// namedType is the type that a function would have the name of.
func (c *Checker) namedType(call sqltext.Call) string {
	return c.Catalog.TypeIn(c.Path, sqltext.Type{Schema: strings.TrimPrefix(call.Schema, "pg_catalog"), Name: call.Name})
}

// unknownFunction is the result of a call of a function that is not known.
func (c *Checker) unknownFunction(call sqltext.Call, types []string) string {
	if slices.Contains([]string{"json_arrayagg", "json_objectagg"}, call.Name) && call.Schema == "pg_catalog" {
		return "" // which have a syntax of their own
	}
	if target := c.asCast(call, types); target != "" {
		return target
	}
	if len(types) != 1 || types[0] != "" { // f(row) may be a column of it
		c.noFunction(call, types)
	}
	return ""
}

// noFunction reports that there is no such function, unless it may be one of an extension.
func (c *Checker) noFunction(call sqltext.Call, types []string) {
	signatures := c.Catalog.Signatures(c.Path, call.Schema, call.Name)
	names := c.Catalog.FunctionNames()
	info, _ := c.Catalog.TypeInfo(c.namedType(call))
	switch {
	case c.Catalog.Extended() || info.Differs:
	case len(signatures) > 0:
		c.reportHint(call.Pos, noFunctionForTypes, c.taking(signatures), c.signature(call, types))
	case call.Schema == "" && elsewhere[call.Name] != "":
		c.reportHint(call.Pos, noSuchFunction, "write "+elsewhere[call.Name], c.signature(call, types))
	default:
		c.reportNearest(call.Pos, noSuchFunction, call.Name, names, c.signature(call, types))
	}
}

// taking tells which arguments functions take.
func (c *Checker) taking(signatures []catalog.Signature) string {
	const shown = 4
	var list []string
	for _, s := range signatures {
		list = append(list, s.Name+"("+strings.Join(c.shownAll(s.Args), ", ")+")")
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	list = slices.Compact(list)
	if len(list) > shown {
		list = append(list[:shown], "others")
	}
	return "there is " + strings.Join(list, ", ") + "; a cast of an argument may help"
}

// signature prints a call as PostgreSQL's messages do.
func (c *Checker) signature(call sqltext.Call, types []string) string {
	name := call.Name
	if call.Schema != "" {
		name = call.Schema + "." + name
	}
	shown := c.shownAll(types)
	for i, argument := range call.Names {
		if argument != "" {
			shown[i] = argument + " => " + shown[i]
		}
	}
	return name + "(" + strings.Join(shown, ", ") + ")"
}

// usage checks that a call is one of the kind that its clauses belong to.
func (c *Checker) usage(call sqltext.Call, kind catalog.SignatureKind) {
	ordered := kind == catalog.OrderedSignature || kind == catalog.HypotheticalSignature
	clauses := []struct {
		has  bool
		word string
	}{{call.Star, call.Name + "(*)"}, {call.Distinct, "DISTINCT"}, {len(call.Order) > 0, "ORDER BY"}, {!call.Filter.IsZero(), "FILTER"}}
	switch {
	case call.WithinGroup && !ordered:
		c.report(call.Pos, noOrderedSet, call.Name)
	case ordered && !call.WithinGroup:
		c.report(call.Pos, needsWithinGroup, call.Name)
	case kind.Aggregates() && !call.WithinGroup && !call.Star && len(call.Args) == 0:
		c.report(call.Pos, needsStar, call.Name)
	case kind == catalog.WindowSignature && call.Over == nil:
		c.report(call.Pos, needsOver, call.Name)
	case kind == catalog.PlainSignature && call.Over != nil:
		c.report(call.Pos, noWindow, call.Name)
	case kind == catalog.PlainSignature:
		for _, clause := range clauses {
			if clause.has {
				c.report(call.Pos, noAggregate, clause.word, call.Name)
				return
			}
		}
	}
}

// Window checks what a window says.
func (c *Checker) Window(w *sqltext.Window) {
	if w == nil {
		return
	}
	for _, e := range w.Partition {
		c.Groupable(e)
	}
	for _, item := range w.Order {
		c.Sortable(item.Expr, item.Using)
	}
	c.types(w.Bounds)
}

// Groupable checks that values of an expression can be grouped.
func (c *Checker) Groupable(e sqltext.Expr) { c.groupable(c.Type(e), e.At()) }

// GroupableType is Groupable of a type.
func (c *Checker) GroupableType(typ string, at int) { c.groupable(c.Catalog.PlainType(typ), at) }

func (c *Checker) groupable(typ string, at int) {
	if info, known := c.Catalog.TypeInfo(typ); known && typ != Unknown && info.Kind != catalog.PseudoKind && !info.Compared.Comparable() {
		c.report(at, noEquality, c.shown(typ))
	}
}

// Sortable checks that values of an expression can be sorted.
func (c *Checker) Sortable(e sqltext.Expr, using sqltext.Operator) {
	typ := c.Type(e)
	info, known := c.Catalog.TypeInfo(typ)
	if using.Name == "" && known && typ != Unknown && info.Kind != catalog.PseudoKind && !info.Compared.Comparable() {
		c.report(e.At(), noOrdering, c.shown(typ))
	}
}
