package artifact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/objects"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// claimed collects the names that a script takes.
type claimed struct {
	claims render.Claims
	had    map[string]bool // names that the version before has
}

// installClaims are all names of a version.
func installClaims(m upgrade.Manifest) render.Claims {
	return upgradeClaims(upgrade.Manifest{Extension: m.Extension, Schema: m.Schema}, m, upgrade.Plan{})
}

// upgradeClaims are the names that are new in a version, and those that the plan replaces, alters, renames or drops.
func upgradeClaims(from, to upgrade.Manifest, plan upgrade.Plan) render.Claims {
	c := claimed{claims: render.Claims{Extension: to.Extension, SchemaName: to.Schema, Internal: to.Internal}, had: map[string]bool{}}
	eachName(from, func(kind, schema, name string) { c.had[kind+" "+sqltext.Qualified(schema, name)] = true }, true)
	eachName(to, func(kind, schema, name string) {
		if !c.had[kind+" "+sqltext.Qualified(schema, name)] {
			c.add(kind, schema, name, false)
		}
	}, true)
	for _, o := range plan.Replaced(from, to) {
		if kind, schema, name, ok := objects.NameOf(o); ok && schema != to.Internal {
			c.add(kind, schema, name, true)
		}
	}
	c.claims.Relations, c.claims.Routines = inOrderOf(c.claims.Relations), inOrderOf(c.claims.Routines)
	return c.claims
}

// uninstallClaims are the names that uninstalling drops.
func uninstallClaims(m upgrade.Manifest) render.Claims {
	c := claimed{claims: render.Claims{Extension: m.Extension, SchemaName: m.Schema}}
	eachName(m, func(kind, schema, name string) {
		if kind == "relation" || kind == "routine" {
			c.add(kind, schema, name, true)
		}
	}, false)
	c.claims.Relations, c.claims.Routines = inOrderOf(c.claims.Relations), inOrderOf(c.claims.Routines)
	return c.claims
}

// add notes a name once.
func (c *claimed) add(kind, schema, name string, replaced bool) {
	switch kind {
	case "publication":
		c.claims.Publications = append(c.claims.Publications, name)
		return
	case "role":
		c.claims.Roles = append(c.claims.Roles, name)
		return
	case "trigger":
		at := slices.IndexFunc(c.claims.Triggers, func(t render.TriggersOn) bool { return t.Table == schema })
		if at < 0 {
			at = len(c.claims.Triggers)
			c.claims.Triggers = append(c.claims.Triggers, render.TriggersOn{Table: schema})
		}
		c.claims.Triggers[at].List = append(c.claims.Triggers[at].List, name)
		return
	}
	list := &c.claims.Relations
	if kind == "routine" {
		list = &c.claims.Routines
	}
	at := slices.IndexFunc(*list, func(n render.Names) bool { return n.Schema == schema && n.Replaced == replaced })
	if at < 0 {
		at = len(*list)
		*list = append(*list, render.Names{Schema: schema, Replaced: replaced})
	}
	if !slices.Contains((*list)[at].List, name) {
		(*list)[at].List = append((*list)[at].List, name)
	}
}

// inOrderOf sorts lists of names and their names, so that the same names give the same bytes.
func inOrderOf(lists []render.Names) []render.Names {
	for _, n := range lists {
		slices.Sort(n.List)
	}
	slices.SortFunc(lists, func(a, b render.Names) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), strings.Compare(fmt.Sprint(a.Replaced), fmt.Sprint(b.Replaced)))
	})
	return lists
}

// eachName visits the names of a version that objects of others may have: relations and routines by schema and name, triggers by table and
// name, publications. The internal schema is new, so objects of others have no names in it.
func eachName(m upgrade.Manifest, visit func(kind, schema, name string), made bool) {
	for _, o := range m.Objects {
		if kind, schema, name, ok := objects.NameOf(o); ok {
			if schema != m.Internal {
				visit(kind, schema, name)
			}
		} else if o.Kind == "role" {
			visit(o.Kind, "", sqltext.Unquoted(o.Signature))
		}
	}
	if !made {
		return
	}
	for _, o := range m.Made {
		switch {
		case o.Kind == "publication":
			visit(o.Kind, "", o.Name)
		case o.Kind == "outbox" && !o.Holds: // that nobody may ever enable
			continue
		}
		for _, r := range o.Relations {
			if r.Schema != m.Internal {
				visit("relation", r.Schema, r.Name)
			}
		}
		for _, name := range o.Triggers {
			visit("trigger", o.On[0], name)
		}
	}
}

// Taken is an object of others that has a name of the extension.
type Taken struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"` // as SQL
	Owner    string `json:"owner"`
	Replaced bool   `json:"replaced"` // they put it in the place of what an upgrade replaces
}

// Problem is the error that an object of others has a name, at the place of the name in the spec.
func (e *Extension) Problem(t Taken) diag.Error {
	kind := t.Kind
	switch kind {
	case "trigger", "publication", "role", "schema":
	case "function", "procedure", "aggregate":
		kind = "routine"
	default:
		kind = "relation"
	}
	name, _, _ := strings.Cut(t.Name, "(")
	at, known := e.origins[kind+" "+name]
	if !known {
		at = e.origins["relation "+sqltext.Qualified(e.Schema, "pgt_extension")]
	}
	return nameOfOthers(at, e.Name, t)
}

// requireNames refuses to replace, alter or drop what others made, and to grant to the role that installs; empty where a script does neither. A name that others
// have is PostgreSQL's own error when the script creates it; apply and diff look for these first, to name the place in the spec.
func requireNames(c render.Claims) string {
	c = render.Claims{Extension: c.Extension, SchemaName: c.SchemaName, Relations: replaced(c.Relations), Routines: replaced(c.Routines), Roles: c.Roles}
	if c.Empty() {
		return ""
	}
	return render.Must("extension/require_names.sql", c)
}

// replaced are the lists of names that are replaced.
func replaced(lists []render.Names) []render.Names {
	return slices.DeleteFunc(slices.Clone(lists), func(n render.Names) bool { return !n.Replaced })
}

// TakenByInstall is a query for the objects of others that have names of an installation: kind, name, owner, and false.
func TakenByInstall(m upgrade.Manifest) string {
	claims := installClaims(m)
	claims.NewSchema = m.Internal
	return render.Must("extension/taken_names.sql", claims)
}

// TakenByUpgrade is TakenByInstall for an upgrade: false for names that are new, true for objects in the place of those that it replaces. It
// is empty if there are neither.
func TakenByUpgrade(from, to upgrade.Manifest, plan upgrade.Plan) string {
	claims := upgradeClaims(from, to, plan)
	if claims.Empty() {
		return ""
	}
	return render.Must("extension/taken_names.sql", claims)
}

// OnlyNew is a query for names without those that would be replaced.
func OnlyNew(query string) string {
	if query == "" {
		return ""
	}
	return "select n.* from (\n" + query + ") n where not n.replaced"
}

func nameOfOthers(by objects.Origin, extension string, t Taken) diag.Error {
	if t.Kind == "role" {
		return diag.Error{
			Pos: by.Name, Code: "name-taken",
			Message: fmt.Sprintf("role %s installs extension %s, and has all rights already", t.Name, extension),
			Hint:    "name a group role, or none: rights that a later version takes from it would be its own",
		}
	}
	other := "give " + by.What + " another name"
	if by.What == "the extension" {
		other = "give the extension another schema"
	}
	return diag.Error{
		Pos: by.Name, Code: "name-taken",
		Message: fmt.Sprintf("%s %s already exists, and extension %s did not make it", t.Kind, t.Name, extension),
		Hint:    fmt.Sprintf("it is of role %s: rename or drop it, or %s", t.Owner, other),
	}
}

// requireVersion fails with a hint unless a version is installed, and keeps it as it is to the end of the transaction.
func requireVersion(m upgrade.Manifest) string {
	return fmt.Sprintf("select %s.pgt_require_version(%s, %s);\n", sqltext.Ident(m.Internal), sqltext.Literal(m.Version), sqltext.Literal(m.Digest()))
}
