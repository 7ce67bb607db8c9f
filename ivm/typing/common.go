package typing

import (
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Common is the type that the alternatives of a construct, such as CASE, are brought to: select_common_type.
func (c *Checker) Common(list []sqltext.Expr, construct string) string {
	places := make([]int, len(list))
	for i, e := range list {
		places[i] = e.At()
	}
	types := c.types(list)
	one := c.CommonType(types, places, construct)
	if one == "" {
		return ""
	}
	for i, e := range list {
		if types[i] == Unknown {
			c.literal(e, one)
		}
	}
	return one
}

// CommonType is Common of types, with the places that messages point to.
func (c *Checker) CommonType(types []string, places []int, construct string) string {
	one, at, ok := c.commonType(types)
	if !ok {
		c.report(places[at], notMatched, construct, c.shown(one), c.shown(types[at]))
		return ""
	}
	for i, typ := range types {
		if typ != Unknown && c.no(c.coercible(typ, one, catalog.ImplicitCast)) {
			c.report(places[i], notConverted, construct, c.shown(typ), c.shown(one))
			return ""
		}
	}
	return one
}

// commonType is the first type but for literals, unless a later one of its category takes its values and not the other way round. It is false where
// categories differ; one and at are then the two.
func (c *Checker) commonType(types []string) (one string, at int, ok bool) {
	same := len(types) > 0
	for _, typ := range types {
		if typ == "" {
			return "", 0, true
		}
		same = same && typ == types[0]
	}
	if same && types[0] != Unknown {
		return types[0], 0, true
	}
	one = Unknown
	for i, typ := range types {
		typ = c.Catalog.BaseType(typ)
		if typ == Unknown || typ == one {
			continue
		}
		category, preferred := c.category(one)
		other, _ := c.category(typ)
		switch {
		case one == Unknown:
			one = typ
		case other != category:
			return one, i, false
		case !preferred && c.coercible(one, typ, catalog.ImplicitCast) == yes && c.coercible(typ, one, catalog.ImplicitCast) == never:
			one = typ
		}
	}
	if one == Unknown {
		return text, 0, true
	}
	return one, 0, true
}
