package drift

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// expect turns what the server says of shadows into what it should say of the objects.
func (c *comparison) expect(shadow []fact) {
	var pairs []string
	for _, schema := range slices.Sorted(maps.Keys(c.shadows.in)) {
		pairs = append(pairs, c.shadows.in[schema], sqltext.Ident(schema))
	}
	names := strings.NewReplacer(pairs...)
	open := c.openRights()
	c.eachRow, c.above = map[string]bool{}, map[string]bool{}
	for _, f := range shadow {
		f = c.owned(f.at(names))
		if f.Aspect == "definition" && strings.Contains(f.Value, " FOR EACH ROW ") {
			c.eachRow[f.Object] = true
		}
		if f.Aspect == "definition" && strings.HasSuffix(f.Value, "('above')") {
			c.above[f.Object] = true
		}
		_, regular := c.order[f.Object]
		switch {
		case f.Aspect == "comment" && regular: // the manifest has it
		case f.Aspect == "rights of public" && !open[f.Object]: // the server's default, which the owner may have changed
		case c.isSource(f.Object):
		default:
			c.wanted = append(append(c.wanted, f), c.belowOf(f)...)
		}
	}
	for _, o := range c.m.Objects {
		c.expectOf(o)
	}
	slices.SortStableFunc(c.wanted, func(a, b fact) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(c.place(a.Object), c.place(b.Object)))
	})
	c.want = byKey(c.wanted)
}

// ownerOfMost is the role that owns the extension: that most of its objects belong to.
func (c *comparison) ownerOfMost(real []fact) (owner string) {
	count := map[string]int{}
	for _, f := range real {
		if f.Aspect == "owner" && !c.isSource(f.Object) {
			count[f.Value]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if owner == "" || count[name] > count[owner] {
			owner = name
		}
	}
	return owner
}

// owned has a shadow belong to the extension's owner: the role that compares may be another member of it.
func (c *comparison) owned(f fact) fact {
	if f.Aspect == "owner" && c.owner != "" {
		f.Does = strings.TrimSuffix(f.Does, f.Value) + c.owner
		f.Value = c.owner
	}
	return f
}

// place is where an object comes in the order of creation; what functions make comes last.
func (c *comparison) place(object string) int {
	if n, ok := c.order[object]; ok {
		return n
	}
	return len(c.order)
}

// expectOf adds what the manifest says of an object and its shadow does not.
func (c *comparison) expectOf(o upgrade.Object) {
	if sql := o.CommentSQL(); sql != "" {
		c.wanted = append(c.wanted, fact{Rank: 12, Object: o.ID(), Aspect: "comment", Value: o.Comment, Does: sql})
	}
	if !c.members {
		return
	}
	switch o.Kind {
	case "table", "view", "sequence", "function", "procedure":
		extension := sqltext.Ident(c.m.Extension)
		c.wanted = append(c.wanted, fact{Rank: 10, Object: o.ID(), Aspect: "member of extension", Value: extension,
			Does: fmt.Sprintf("alter extension %s add %s", extension, o.ID())})
		if o.Dump {
			c.wanted = append(c.wanted, fact{Rank: 10, Object: o.ID(), Aspect: "kept by dumps", Value: "yes"})
		}
	}
}

// openRights are the objects of which the scripts say what everybody may do with them.
func (c *comparison) openRights() map[string]bool {
	open := map[string]bool{}
	for _, o := range c.m.Objects {
		if o.Kind == "grant" && (strings.HasPrefix(o.Signature, "nobody: ") || strings.HasPrefix(o.Signature, "public: ")) {
			for _, need := range o.Needs {
				open[need] = !strings.HasPrefix(need, "schema ")
			}
		}
	}
	return open
}

// isSource reports whether an object is a table of others: only triggers on it are ours.
func (c *comparison) isSource(object string) bool {
	return slices.ContainsFunc(c.shadows.sources, func(r sqltext.Relation) bool { return object == "table "+r.String() })
}
