package emit

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Index lists what a unique index on the identity of stored rows holds.
func Index(s apply.Storage) string {
	var items []string
	for _, k := range s.Identity {
		name := sqltext.Ident(k.Name)
		if k.Nullable {
			items = append(items, "coalesce("+name+", "+k.Sentinel()+")", "("+name+" is null)")
		} else {
			items = append(items, name)
		}
	}
	return strings.Join(items, ", ")
}

// Same is the condition that rows a and b, both with apply.Hash where there is one, have the same identity.
func Same(s apply.Storage, a, b string) string {
	if !s.Hashed() {
		return PlainSame(s, a, b)
	}
	return a + "." + apply.Hash + " = " + b + "." + apply.Hash + " and " + PlainSame(s, a, b)
}

// PlainSame is Same without the hash.
func PlainSame(s apply.Storage, a, b string) string {
	var conds []string
	for _, k := range s.Identity {
		l, r := a+"."+sqltext.Ident(k.Name), b+"."+sqltext.Ident(k.Name)
		if k.Nullable && !s.Hashed() {
			conds = append(conds, "coalesce("+l+", "+k.Sentinel()+") = coalesce("+r+", "+k.Sentinel()+") and ("+l+" is null) = ("+r+" is null)")
			continue
		}
		op := " = "
		if s.Hashed() {
			op = " is not distinct from "
		}
		compared := k.Equality.Comparable()
		switch {
		case k.Nullable && s.Searched(k): // no index finds rows by IS NOT DISTINCT FROM
			conds = append(conds, "("+l+" = "+r+" or "+l+" is null and "+r+" is null)")
		case compared:
			conds = append(conds, l+op+r)
		}
		if s.Repeats && (k.Varied || !compared) {
			conds = append(conds, sqltext.Image(l)+op+sqltext.Image(r))
		}
	}
	if len(conds) == 0 {
		return "true"
	}
	return strings.Join(conds, " and ")
}

// HashOf is the expression for apply.Hash over the identity of row a. It keeps to each type's own equality.
func HashOf(s apply.Storage, a string) string {
	var columns []string
	for _, k := range s.Identity {
		column := sqltext.Ident(k.Name)
		if a != "" {
			column = a + "." + column
		}
		switch s.HashPart(k) {
		case apply.ValuePart:
			columns = append(columns, column)
		case apply.TextPart:
			columns = append(columns, column+"::text")
		}
	}
	return "hash_record_extended(row(" + strings.Join(columns, ", ") + "), 0)"
}

// prefixed are the columns of a row.
func prefixed(alias string, names []string) []string {
	columns := idents(names)
	for i := range columns {
		columns[i] = alias + "." + columns[i]
	}
	return columns
}

func idents(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = sqltext.Ident(name)
	}
	return quoted
}
