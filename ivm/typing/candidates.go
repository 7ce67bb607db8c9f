package typing

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/catalog"
)

// candidate is a function or operator that a call can mean, with its arguments as the call has them.
type candidate struct {
	args   []string
	result string
	kind   catalog.SignatureKind
	set    bool
	least  int  // how many defaults it takes to call it
	dots   bool // the arguments stand for a list of any length
}

// matching are the candidates that take arguments of these types: func_match_argtypes.
func (c *Checker) matching(types []string, all []candidate) []candidate {
	return slices.DeleteFunc(slices.Clone(all), func(cand candidate) bool { return !c.accepts(types, cand) })
}

// accepts: each argument can be coerced without being asked for, and those of polymorphic types agree.
func (c *Checker) accepts(types []string, cand candidate) bool {
	for i, typ := range types {
		if c.no(c.coercible(typ, cand.args[i], catalog.ImplicitCast)) {
			return false
		}
	}
	_, ok := c.generic(types, cand.args, "")
	return ok
}

// exact finds the candidate with just these types.
func exact(types []string, all []candidate) (candidate, bool) {
	at := slices.IndexFunc(all, func(cand candidate) bool { return slices.Equal(cand.args, types) })
	if at < 0 {
		return candidate{}, false
	}
	return all[at], true
}

// choose picks the best of several candidates: func_select_candidate. Each step keeps those that are best by it, unless it leaves none.
func (c *Checker) choose(types []string, all []candidate) (candidate, bool) {
	types = slices.Clone(types)
	for i, typ := range types {
		types[i] = c.Catalog.BaseType(typ)
	}
	all = best(all, func(cand candidate) int { return c.exactly(types, cand) })
	if len(all) > 1 {
		all = best(all, func(cand candidate) int { return c.exactlyOrPreferred(types, cand) })
	}
	if len(all) > 1 && slices.Contains(types, Unknown) {
		all = c.byCategories(types, all)
	}
	if len(all) > 1 {
		all = c.asOneType(types, all)
	}
	if len(all) != 1 {
		return candidate{}, false
	}
	return all[0], true
}

// best keeps the candidates of the greatest number.
func best(all []candidate, number func(candidate) int) []candidate {
	var kept []candidate
	most := -1
	for _, cand := range all {
		switch n := number(cand); {
		case n > most:
			kept, most = []candidate{cand}, n
		case n == most:
			kept = append(kept, cand)
		}
	}
	return kept
}

func (c *Checker) exactly(types []string, cand candidate) int {
	n := 0
	for i, typ := range types {
		if typ != Unknown && cand.args[i] == typ {
			n++
		}
	}
	return n
}

func (c *Checker) exactlyOrPreferred(types []string, cand candidate) int {
	n := 0
	for i, typ := range types {
		if typ == Unknown {
			continue
		}
		wanted, _ := c.category(typ)
		category, preferred := c.category(cand.args[i])
		if cand.args[i] == typ || preferred && category == wanted {
			n++
		}
	}
	return n
}

// byCategories decides on arguments of no type by the categories that the candidates have there: strings if one has, else the one of all.
func (c *Checker) byCategories(types []string, all []candidate) []candidate {
	wanted, preferred := make([]catalog.Category, len(types)), make([]bool, len(types))
	for i, typ := range types {
		if typ != Unknown {
			continue
		}
		conflict := false
		for _, cand := range all {
			category, isPreferred := c.category(cand.args[i])
			switch {
			case wanted[i] == "", category == catalog.StringCategory && wanted[i] != category:
				wanted[i], preferred[i] = category, isPreferred
			case category == wanted[i]:
				preferred[i] = preferred[i] || isPreferred
			default:
				conflict = true
			}
		}
		if conflict && wanted[i] != catalog.StringCategory {
			return all
		}
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(cand candidate) bool {
		for i, typ := range types {
			category, isPreferred := c.category(cand.args[i])
			if typ == Unknown && (category != wanted[i] || preferred[i] && !isPreferred) {
				return true
			}
		}
		return false
	})
	if len(kept) == 0 {
		return all
	}
	return kept
}

// asOneType takes arguments of no type for the type of all others, if these have one.
func (c *Checker) asOneType(types []string, all []candidate) []candidate {
	one := ""
	for _, typ := range types {
		switch {
		case typ == Unknown:
		case one != "" && typ != one:
			return all
		default:
			one = typ
		}
	}
	if one == "" || !slices.Contains(types, Unknown) {
		return all
	}
	same := slices.Repeat([]string{one}, len(types))
	var kept []candidate
	for _, cand := range all {
		if c.accepts(same, cand) {
			kept = append(kept, cand)
		}
	}
	if len(kept) != 1 {
		return all
	}
	return kept
}
