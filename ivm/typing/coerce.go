package typing

import "github.com/pgsluice/sluice/ivm/catalog"

// answer is what is known of a question.
type answer int

const (
	notKnown answer = iota
	yes
	never
)

func of(is bool) answer {
	if is {
		return yes
	}
	return never
}

// no reports whether the answer is certainly no.
func (c *Checker) no(a answer) bool { return a == never }

// coercible reports whether a value of one type becomes one of another: can_coerce_type, but for polymorphic types.
func (c *Checker) coercible(from, to string, in catalog.CastContext) answer {
	switch {
	case from == "" || to == "":
		return notKnown
	case from == to, from == Unknown, to == `"any"`, isPolymorphic(to):
		return yes
	}
	from, to = c.Catalog.BaseType(from), c.Catalog.BaseType(to)
	source, knowsSource := c.Catalog.TypeInfo(from)
	target, knowsTarget := c.Catalog.TypeInfo(to)
	switch {
	case !knowsSource || !knowsTarget:
		return notKnown
	case from == to:
		return yes
	}
	if cast, found := c.Catalog.Cast(from, to); found {
		return of(cast.Context.Allows(in))
	}
	return c.withoutCast(from, to, source, target, in)
}

// withoutCast is coercible where pg_cast has no entry: between arrays as between their elements, through text, and between rows.
func (c *Checker) withoutCast(from, to string, source, target catalog.TypeInfo, in catalog.CastContext) answer {
	arrays := source.Kind == catalog.ArrayKind && target.Kind == catalog.ArrayKind
	if arrays {
		if elements := c.coercible(source.Elem, target.Elem, in); elements != never {
			return elements
		}
	}
	switch {
	case in == catalog.AssignmentCast && target.Category == catalog.StringCategory,
		in == catalog.ExplicitCast && (target.Category == catalog.StringCategory || source.Category == catalog.StringCategory):
		return yes
	case to == Record && source.Kind == catalog.CompositeKind, from == Record && target.Kind == catalog.CompositeKind:
		return yes
	case to == "record[]" && c.isComposite(source.Elem):
		return yes
	case source.Kind == catalog.CompositeKind && target.Kind == catalog.CompositeKind: // one may inherit from the other
		return notKnown
	}
	return never
}

func (c *Checker) isComposite(typ string) bool {
	info, _ := c.Catalog.TypeInfo(typ)
	return info.Kind == catalog.CompositeKind
}

// category is that of a type, with whether it is preferred in it.
func (c *Checker) category(typ string) (catalog.Category, bool) {
	if typ == Unknown {
		return catalog.UnknownCategory, false
	}
	info, _ := c.Catalog.TypeInfo(typ)
	return info.Category, info.Preferred
}
