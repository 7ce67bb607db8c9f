package ivm

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/emit"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// rescanKeys: the groups that changes touch, as they are now, less as they are
// stored. Which groups those are needs no signs: a superset will do.
func (v *View) rescanKeys(w *emit.Writer, stored string) []string {
	groups := v.groups()
	c := v.calculus()
	touched := c.touched(groups)
	if touched == nil {
		return nil
	}
	keys := v.Keys()
	w.Keep(touched, keyNames(keys))
	restricted := groups.With([]algebra.Node{c.restricted(groups.Input, groups.Keys, touched)})
	now := algebra.Rewrite(v.Root, func(n algebra.Node) algebra.Node {
		if n == groups {
			return restricted
		}
		return n
	})
	fresh := w.Add(v.withKeys(now, keys), append(v.names(), hidden(keys, v.names())...), false)
	lines := []string{"select *", "from " + fresh, "union all"}
	return append(lines, v.storedRows(w.Keep(touched, nil), keys, stored)...)
}

// Keys are the columns by which stored rows are found: those of the output that
// are keys of the groups, and hidden ones for the others.
func (v *View) Keys() []Key {
	if groups := v.groups(); groups != nil {
		return v.keysOf(groups)
	}
	return nil
}

func (v *View) keysOf(groups *algebra.Aggregate) []Key {
	var keys []Key
	for i, k := range groups.Keys {
		keys = append(keys, Key{Name: v.keyName(k.ID, i), Nullable: !v.props.Of(groups).NotNull(k.ID), id: k.ID})
	}
	return keys
}

// keyName is the output column that a key is, or a hidden one.
func (v *View) keyName(key algebra.ColID, n int) string {
	if p, ok := v.Root.(*algebra.Project); ok {
		for i, item := range p.Items {
			if id, ok := item.Expr.Column(); ok && id == key {
				return v.Output[i].Name
			}
		}
	}
	return fmt.Sprintf("__key%d", n+1)
}

func keyNames(keys []Key) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}

// hidden are the keys' columns that the output does not have.
func hidden(keys []Key, output []string) []string {
	var names []string
	for _, k := range keys {
		if !slices.Contains(output, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// withKeys adds the hidden keys to the columns of the view's tree.
func (v *View) withKeys(root algebra.Node, keys []Key) algebra.Node {
	p := root.(*algebra.Project)
	with := &algebra.Project{Input: p.Input, Items: append([]algebra.Item{}, p.Items...)}
	for _, k := range keys {
		if !slices.Contains(v.names(), k.Name) {
			with.Items = append(with.Items, algebra.Item{ID: v.Columns.New(v.Columns.Info(k.id)), Expr: algebra.Ref(k.id)})
		}
	}
	return with
}

// storedRows are the touched groups as they are stored, to be taken away.
func (v *View) storedRows(touched emit.Leaf, keys []Key, stored string) []string {
	var lines []string
	for branch := range branches(keys) {
		if branch > 0 {
			lines = append(lines, "union all")
		}
		var columns []string
		for _, name := range append(v.names(), hidden(keys, v.names())...) {
			columns = append(columns, "s."+sqltext.Ident(name))
		}
		lines = append(lines, emit.Clause("select", append(columns, "-1 as "+Mult))...)
		lines = append(lines, "from "+stored+" s", "join "+touched.SQL+" t on "+matches(keys, branch))
	}
	return lines
}

func branches(keys []Key) int {
	for _, k := range keys {
		if k.Nullable {
			return 2
		}
	}
	return 1
}

// matches is the condition that a stored row s is of a touched group t.
func matches(keys []Key, branch int) string {
	text, branched := "", false
	for _, k := range keys {
		s, t := "s."+sqltext.Ident(k.Name), "t."+sqltext.Ident(k.Name)
		cond := s + " = " + t
		switch {
		case !k.Nullable:
		case !branched && branch == 0:
			branched = true
		case !branched:
			branched, cond = true, s+" is null and "+t+" is null"
		default:
			cond = s + " is not distinct from " + t
		}
		if text != "" {
			text += " and "
		}
		text += cond
	}
	return text
}
