package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/diag"
)

func sortedNames(names map[string]bool) []string { return slices.Sorted(maps.Keys(names)) }

// plainName checks a name that has no schema part.
func (c checker) plainName(p Place, kind, name, renamedFrom string) {
	if strings.Contains(name, ".") {
		c.report(p.Field("name"), dotInName, kind, name)
	}
	if strings.Contains(renamedFrom, ".") {
		c.report(p.Field("renamed_from"), dotInName, kind, renamedFrom)
	}
}

// named is an object of a kind within which names are distinct.
type named struct {
	Place
	name, renamedFrom string
	claims            []claim
}

// claim is a relation that an object has.
type claim struct {
	relation Name
	ofTable  bool // made from a stream table's name; the same name in another schema gets a suffix
	catalog  bool // may begin with pgt_
	adopted  bool // a table of the user's
}

// names checks that names are distinct within a kind, and the relations that are made from them among all kinds.
func (c checker) names() {
	var makers []maker
	for _, kind := range []struct {
		noun    string
		objects []named
	}{
		{"stream table", c.namedTables()},
		{"outbox", c.namedOutboxes()},
		{"consumer group", c.namedGroups()},
		{"inbox", c.namedInboxes()},
	} {
		for _, object := range c.distinct(kind.noun, kind.objects) {
			makers = append(makers, maker{fmt.Sprintf("%s %q", kind.noun, object.name), object})
		}
		c.renames(kind.noun, kind.objects)
	}
	c.clashes(makers)
}

// distinct reports repeated names and returns the objects without them.
func (c checker) distinct(kind string, objects []named) []named {
	first := map[string]diag.Pos{}
	var kept []named
	for _, o := range objects {
		at := o.Field("name")
		other, taken := first[o.name]
		switch {
		case o.name == "":
		case taken:
			c.errs.Add(duplicateName.since(at, other, kind, o.name))
		default:
			first[o.name] = at
			kept = append(kept, o)
		}
	}
	return kept
}

func (c checker) renames(kind string, objects []named) {
	live, claimed := map[string]diag.Pos{}, map[string]diag.Pos{}
	for _, o := range objects {
		if o.renamedFrom == "" { // what is renamed itself may be another than it was
			live[o.name] = o.Field("name")
		}
	}
	for _, o := range objects {
		at, old := o.Field("renamed_from"), o.renamedFrom
		definition, isLive := live[old]
		first, isClaimed := claimed[old]
		switch {
		case old == "":
			continue
		case old == o.name:
			c.report(at, renamedToItself, kind, o.name)
		case isLive:
			c.errs.Add(renamedFromLive.since(at, definition, kind, o.name, old))
		case isClaimed:
			c.errs.Add(renamedTwice.since(at, first, old))
		}
		claimed[old] = at
	}
}

// maker is an object with the words by which messages call it.
type maker struct {
	what string
	named
}

// owner is the first object that claimed a relation.
type owner struct {
	maker
	claim
}

// clashes reports relations that two objects would have, once for each pair of objects.
func (c checker) clashes(makers []maker) {
	owners := map[Name]owner{}
	reported := map[[2]string]bool{}
	for _, m := range makers {
		for _, claim := range m.claims {
			other, taken := owners[claim.relation]
			pair := [2]string{other.what, m.what}
			if !taken {
				owners[claim.relation] = owner{m, claim}
			}
			if reported[pair] {
				continue
			}
			switch {
			case taken && !(claim.ofTable && other.ofTable):
				c.errs.Add(relationClash.since(m.Field("name"), other.Field("name"), m.what, claim.relation, other.what))
			case c.isCatalogs(claim):
				c.report(m.Field("name"), catalogClash, m.what, claim.relation)
			default:
				continue
			}
			reported[pair] = true
		}
	}
}

// isCatalogs reports whether a claim is for a name that is kept for the catalog.
func (c checker) isCatalogs(claim claim) bool {
	return !claim.catalog && claim.relation.Schema == c.Extension.Schema && strings.HasPrefix(claim.relation.Name, "pgt_")
}
