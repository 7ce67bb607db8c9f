package typing

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/catalog"
)

// isPolymorphic reports whether a type stands for the one of an argument.
func isPolymorphic(typ string) bool {
	return strings.HasPrefix(typ, "any") && typ != "any"
}

// generic finds what polymorphic types stand for in a call, and the result: enforce_generic_type_consistency. It is false if arguments do not agree; ""
// is a result that is not known.
func (c *Checker) generic(types, declared []string, result string) (string, bool) {
	if !slices.ContainsFunc(declared, isPolymorphic) {
		return result, true
	}
	if slices.Contains(types, "") {
		if isPolymorphic(result) {
			result = ""
		}
		return result, true
	}
	g := generics{Checker: c}
	for i, want := range declared {
		if isPolymorphic(want) && !g.take(want, types[i]) {
			return "", false
		}
	}
	if !g.settle() {
		return "", false
	}
	return g.result(result), true
}

// settled is the type of an argument of a call, if it is polymorphic that which it stands for.
func (c *Checker) settled(types, declared []string, arg int) string {
	typ, _ := c.generic(types, declared, declared[arg])
	return typ
}

// undetermined reports whether nothing says what anyelement and its family stand for.
func undetermined(types, declared []string) bool {
	found := false
	for i, want := range declared {
		if !isPolymorphic(want) || strings.HasPrefix(want, "anycompatible") {
			continue
		}
		if types[i] != Unknown {
			return false
		}
		found = true
	}
	return found
}

// generics are what the polymorphic types of a call stand for; "" if no argument says it.
type generics struct {
	*Checker
	element, array, rang, multirange string   // of anyelement and its family, which are all one type
	common                           []string // of anycompatible and its family, which have one in common
	commonRange                      string
	unknown, unknownCommon           bool // an argument of no type stands for one of the family
	notArray, enum, notCommonArray   bool
}

// take adds an argument; false if it cannot be one of the type.
func (g *generics) take(want, typ string) bool {
	family, compatible := strings.CutPrefix(want, "anycompatible")
	if !compatible {
		family = strings.TrimPrefix(want, "any")
	}
	g.notArray = g.notArray || want == "anynonarray"
	g.notCommonArray = g.notCommonArray || want == "anycompatiblenonarray"
	g.enum = g.enum || want == "anyenum"
	if typ == Unknown {
		g.unknown, g.unknownCommon = g.unknown || !compatible, g.unknownCommon || compatible
		return true
	}
	element := typ
	switch family {
	case "array", "range", "multirange":
		var ok bool
		if element, ok = g.below(family, g.Catalog.BaseType(typ)); !ok {
			return false
		}
	}
	if compatible {
		return g.takeCommon(family, g.Catalog.BaseType(typ), element)
	}
	return g.takeOne(family, typ, element)
}

// takeOne adds an argument of the family in which all have one type.
func (g *generics) takeOne(family, typ, element string) bool {
	slot := map[string]*string{"array": &g.array, "range": &g.rang, "multirange": &g.multirange}[family]
	if slot != nil {
		typ = g.Catalog.BaseType(typ)
		if *slot != "" && *slot != typ {
			return false
		}
		*slot = typ
	}
	if g.element != "" && g.element != element {
		return false
	}
	g.element = element
	return true
}

// takeCommon adds an argument of the family whose types have one in common.
func (g *generics) takeCommon(family, typ, element string) bool {
	if family == "range" {
		if g.commonRange != "" && g.commonRange != typ {
			return false
		}
		g.commonRange = typ
	}
	g.common = append(g.common, element)
	return true
}

// below is the type of the elements of an array or a range; false if it is none.
func (g *generics) below(family, typ string) (string, bool) {
	info, _ := g.Catalog.TypeInfo(typ)
	switch {
	case family == "array" && info.Kind == catalog.ArrayKind:
		return info.Elem, true
	case family == "array" && typ == "anyarray": // of pg_stats
		return "", true
	case family == "range" && info.Kind == catalog.RangeKind:
		return info.Sub, true
	case family == "multirange" && info.Kind == catalog.MultirangeKind:
		sub, _ := g.Catalog.TypeInfo(info.Sub)
		return sub.Sub, true
	}
	return "", false
}

// settle checks what holds of all arguments together.
func (g *generics) settle() bool {
	info, _ := g.Catalog.TypeInfo(g.Catalog.BaseType(g.element)) // an array's domain is one, too
	switch {
	case g.notArray && info.Kind == catalog.ArrayKind, g.enum && g.element != "" && info.Kind != catalog.EnumKind:
		return false
	}
	if len(g.common) == 0 {
		return true
	}
	one, _, ok := g.commonType(g.common)
	if !ok {
		return false
	}
	for _, typ := range g.common {
		if g.no(g.coercible(typ, one, catalog.ImplicitCast)) {
			return false
		}
	}
	info, _ = g.Catalog.TypeInfo(g.Catalog.BaseType(one))
	g.common = []string{one}
	return !g.notCommonArray || info.Kind != catalog.ArrayKind
}

// result is what a polymorphic result stands for.
func (g *generics) result(declared string) string {
	one := ""
	if len(g.common) > 0 {
		one = g.common[0]
	} else if g.unknownCommon {
		one = text
	}
	switch declared {
	case "anyelement", "anynonarray", "anyenum":
		return g.element
	case "anyarray":
		return g.arrayOf(g.element)
	case "anyrange":
		return g.rang
	case "anymultirange":
		if g.multirange == "" && g.rang != "" {
			return g.Catalog.MultirangeOf(g.rang)
		}
		return g.multirange
	case "anycompatible", "anycompatiblenonarray":
		return one
	case "anycompatiblearray":
		return g.arrayOf(one)
	case "anycompatiblerange":
		return g.commonRange
	}
	if isPolymorphic(declared) {
		return ""
	}
	return declared
}

// arrayOf is the array of a type; "" of what has none.
func (g *generics) arrayOf(element string) string {
	if info, _ := g.Catalog.TypeInfo(element); element == "" || info.Kind == catalog.ArrayKind {
		return ""
	}
	return element + "[]"
}
