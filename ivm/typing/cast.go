package typing

import (
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// cast is value::type.
func (c *Checker) cast(f sqltext.Form) string {
	target := c.Named(f.Type)
	c.castTo(f.Parts[0], target, f.Pos)
	return target
}

// Named is a type by the name that a query has for it, which it reports if there is none.
func (c *Checker) Named(t sqltext.Type) string {
	typ := c.Catalog.PlainType(c.Catalog.TypeIn(c.Path, t))
	if typ == "" && !c.Catalog.Extended() && !c.Catalog.HasType(c.Path, t) {
		name := t.Name
		if t.Schema != "" {
			name = t.Schema + "." + name
		}
		c.reportNearest(t.Pos, noSuchType, t.Name, c.Catalog.TypeNames(), name)
	}
	return typ
}

// castTo checks the cast of a value. The elements of ARRAY[…] are cast one by one.
func (c *Checker) castTo(e sqltext.Expr, target string, at int) {
	info, _ := c.Catalog.TypeInfo(c.Catalog.BaseType(target))
	if list := e.Form(); list.Kind == sqltext.ArrayForm && info.Kind == catalog.ArrayKind {
		for _, part := range list.Parts {
			if part.Form().Kind == sqltext.ArrayForm {
				c.castTo(part, target, at)
			} else {
				c.castTo(part, info.Elem, at)
			}
		}
		return
	}
	typ := c.Type(e)
	switch {
	case typ == Unknown:
		c.literal(e, target)
	case c.no(c.coercible(typ, target, catalog.ExplicitCast)):
		if at < 0 {
			at = e.At()
		}
		c.report(at, noCast, c.shown(typ), c.shown(target))
	}
}
