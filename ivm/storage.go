package ivm

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/emit"
)

// Storage says how a view's rows are stored.
type Storage struct{ apply.Storage }

// Index lists what a unique index on the identity of stored rows holds, as SQL.
func (s Storage) Index() string { return emit.Index(s.Storage) }

// Same is the condition that rows a and b, both with a hash where there is one, have the same identity.
func (s Storage) Same(a, b string) string { return emit.Same(s.Storage, a, b) }

// PlainSame is Same without the hash.
func (s Storage) PlainSame(a, b string) string { return emit.PlainSame(s.Storage, a, b) }

// HashOf is the expression for the hash of the identity of row a.
func (s Storage) HashOf(a string) string { return emit.HashOf(s.Storage, a) }

// stored says how the view's rows are stored.
func (v *view) stored() apply.Storage {
	if v.Open != nil {
		return wholeStorage()
	}
	s := v.layout()
	known := map[string]algebra.Info{}
	for _, o := range v.Output {
		if o.ID != 0 {
			known[o.Name] = v.columns.Info(o.ID)
		}
	}
	if v.limit != nil {
		for _, h := range v.limit.hidden {
			known[h.name] = v.columns.Info(h.id)
		}
	}
	for i, k := range s.Identity {
		info := known[k.Name]
		if k.Column != 0 {
			of := v.columns.Info(k.Column)
			info.Type, info.Equality = of.Type, of.Equality
			known[k.Name] = info
		}
		if s.Repeats && info.Equality == catalog.UnknownEquality && !info.Any { // it may be one that cannot be hashed: money, say
			info.Varied = true
			known[k.Name] = info
		}
		s.Identity[i].Type, s.Identity[i].Varied, s.Identity[i].Any, s.Identity[i].Equality = info.Type, info.Varied, info.Any, info.Equality
	}
	if v.groups != nil {
		known[apply.Members] = typed("bigint")
		for _, a := range v.groups.Accumulators {
			known[a.Name] = typed("numeric") // or another one of numbers
			if a.Extreme() {
				known[a.Name] = typed(v.columns.TypeOf(a.Arg))
			}
		}
	}
	for _, name := range s.Stored {
		info := known[name]
		s.Types, s.Varied, s.Comparable = append(s.Types, info.Type), append(s.Varied, info.Varied), append(s.Comparable, info.Equality.Comparable())
	}
	return s
}

// typed is a column of one of PostgreSQL's own types.
func typed(typ string) algebra.Info {
	return algebra.Info{Type: typ, Equality: catalog.EqualityOf(typ)}
}

// layout is the storage without what is known of its columns.
func (v *view) layout() apply.Storage {
	s := apply.Storage{Visible: v.names()}
	switch v.strategy {
	case MergeGroups:
		s.Stored, s.Identity = v.groups.Columns(), slices.Clone(v.groups.Keys)
		return s
	case RescanKeys:
		s.Identity = v.keysOf(v.aggregate())
		s.Stored = slices.Concat(s.Visible, v.hiddenNames())
		s.Stored = append(s.Stored, apply.Hidden(s.Identity, s.Visible)...)
		return s
	case MergeRows:
		s.Identity = v.rowKey()
	}
	s.Stored = slices.Concat(s.Visible, v.hiddenNames())
	if s.Identity == nil {
		s.Repeats = true
		for i, name := range s.Stored {
			s.Identity = append(s.Identity, apply.Key{Name: name, Nullable: v.Root == nil || !v.props.Of(v.Root).NotNull(v.Root.Columns()[i])})
		}
	}
	return s
}

// rowKey are columns of the output that no two rows of the view share, none of them null; nil if there are none.
func (v *view) rowKey() []apply.Key {
	facts, names := v.props.Of(v.Root), map[algebra.ColID]string{}
	var output []algebra.ColID
	for _, o := range v.Output {
		output = append(output, o.ID)
		names[o.ID] = o.Name
	}
	var keys []apply.Key
	for _, id := range facts.Key(output) {
		keys = append(keys, apply.Key{Name: names[id], Column: facts.Origins(id)[0]})
	}
	return keys
}
