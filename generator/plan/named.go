package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// The kinds of named things, as manifests spell them.
const (
	anInbox      = "inbox"
	anOutbox     = "outbox"
	aGroup       = "consumer group"
	aStreamTable = "stream table"
)

// Lineage records under which names things were released first.
type Lineage struct {
	Spec     *spec.Spec         // with the stream tables that stand for relations of inboxes
	Original *spec.Spec         // the same with the names that all was released under first
	Released []upgrade.Manifest // before this version, oldest first
	Last     upgrade.Manifest   // of them
	named    []upgrade.Named
	declared []declared
}

// first returns the name under which a thing was released first.
func (l *Lineage) first(kind, name string) string {
	at := slices.IndexFunc(l.named, func(n upgrade.Named) bool { return n.Kind == kind && n.Name == name })
	if at < 0 {
		return name
	}
	return l.named[at].First()
}

// Moved reports whether a thing has another name than it had first.
func (l *Lineage) Moved() bool {
	return slices.ContainsFunc(l.named, func(n upgrade.Named) bool { return n.Origin != "" })
}

// declared is a name of a spec.
type declared struct {
	spec.Place
	kind, name, from string
	options          map[string]string
}

// declarations lists the names that a spec declares; names of stream tables include their schemas.
func declarations(s *spec.Spec) []declared {
	var all []declared
	for _, i := range s.Inboxes {
		all = append(all, declared{i.Place, anInbox, i.Name, i.RenamedFrom, spec.Options(i)})
	}
	for _, o := range s.Outboxes {
		all = append(all, declared{o.Place, anOutbox, o.Name, o.RenamedFrom, spec.Options(o)})
	}
	for _, g := range s.ConsumerGroups {
		all = append(all, declared{g.Place, aGroup, g.Name, g.RenamedFrom, spec.Options(g)})
	}
	for _, t := range s.StreamTables {
		d := declared{t.Place, aStreamTable, render.Name(t.Relation).Plain(), "", spec.Options(t)}
		if from, err := spec.ParseName(t.RenamedFrom); err == nil {
			if from.Schema == "" {
				from.Schema = s.Extension.Schema
			}
			d.from = render.Name(from).Plain()
		}
		all = append(all, d)
	}
	return all
}

// bare is a name without its schema: kinds make relations of the same names.
func bare(kind, name string) string {
	if kind == aStreamTable {
		parsed, _ := spec.ParseName(name)
		return parsed.Name
	}
	return name
}

// since appends a version to a name, which distinguishes a thing from one that had the name before.
func since(kind, name, version string) string {
	if kind == aStreamTable {
		parsed, _ := spec.ParseName(name)
		return render.Name{Schema: parsed.Schema, Name: parsed.Name + "@" + version}.Plain()
	}
	return name + "@" + version
}
