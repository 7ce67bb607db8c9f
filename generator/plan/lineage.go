package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Trace finds the first names of all that a spec names, and reports renames that cannot be.
func Trace(s *spec.Spec, released []upgrade.Manifest, errs *diag.List) *Lineage {
	s = withFeeds(s, released)
	l := trace(s, released, errs)
	l.Spec, l.Original = Materialized(s), Materialized(l.original(s))
	l.nameTables(len(s.StreamTables), l.Spec.StreamTables, l.Original.StreamTables)
	return l
}

// tracer follows names through the released versions.
type tracer struct {
	released []upgrade.Manifest // before this version, oldest first
	last     upgrade.Manifest
	all      []declared
	errs     *diag.List
}

// trace finds the names.
func trace(s *spec.Spec, released []upgrade.Manifest, errs *diag.List) *Lineage {
	t := tracer{all: declarations(s), errs: errs}
	for _, m := range released {
		if spec.CompareVersions(m.Version, s.Extension.Version) < 0 {
			t.released, t.last = append(t.released, m), m
		}
	}
	l := &Lineage{Released: t.released, Last: t.last, declared: t.all}
	for _, d := range t.all {
		n := upgrade.Named{Kind: d.kind, Name: d.name, RenamedFrom: d.from, Options: d.options}
		if before, ok := t.before(d); ok {
			n.Origin = before.First()
		}
		l.named = append(l.named, n)
	}
	l.settle(s.Extension.Version)
	return l
}

// before returns the name that a thing had in the last version; not ok if the thing is new.
func (t *tracer) before(d declared) (upgrade.Named, bool) {
	if t.pending(d) {
		was, ok := t.last.Find(d.kind, d.from)
		t.check(d, ok)
		return was, ok
	}
	if slices.ContainsFunc(t.all, func(o declared) bool { return o.kind == d.kind && o.from == d.name && t.pending(o) }) {
		return upgrade.Named{}, false // reported where the other says that it was this
	}
	return t.last.Find(d.kind, d.name)
}

// pending reports whether a rename has not been released.
func (t *tracer) pending(d declared) bool {
	if d.from == "" {
		return false
	}
	now, there := t.last.Find(d.kind, d.name)
	if there && now.RenamedFrom == d.from {
		return false
	}
	_, stands := t.last.Find(d.kind, d.from)
	return stands || !there || !t.everWas(d.kind, d.from)
}

// everWas reports whether any released version has a name.
func (t *tracer) everWas(kind, name string) bool {
	return slices.ContainsFunc(t.released, func(m upgrade.Manifest) bool {
		_, ok := m.Find(kind, name)
		return ok
	})
}

// check reports a rename from a name that the last version does not have, or that is still defined.
func (t *tracer) check(d declared, stood bool) {
	at := d.Field("renamed_from")
	for _, o := range t.all {
		if o.kind == d.kind && o.name == d.from && !t.pending(o) {
			t.errs.Add(renamedFromLive(at, o.Field("name"), d))
			return
		}
	}
	switch other := t.kindOf(d.from); {
	case stood:
	case t.everWas(d.kind, d.from):
		t.errs.Add(renamedTooLate(at, d, t.last.Version, t.currentName(d.kind, d.from)))
	case other != "":
		t.errs.Add(renamedKind(at, d, other))
	default:
		t.errs.Add(renamedUnknown(at, d, t.known(d.kind)))
	}
}

// currentName returns the name in the last version of a thing that once had another name; empty if that version does not have it.
func (t *tracer) currentName(kind, name string) string {
	for _, m := range slices.Backward(t.released) {
		was, ok := m.Find(kind, name)
		if !ok {
			continue
		}
		for _, n := range t.last.Named {
			if n.Kind == kind && n.First() == was.First() {
				return n.Name
			}
		}
	}
	return ""
}

// kindOf returns the kind of a name in the last version.
func (t *tracer) kindOf(name string) string {
	for _, n := range t.last.Named {
		if n.Name == name {
			return n.Kind
		}
	}
	return ""
}

// known are the names of a kind in the last version.
func (t *tracer) known(kind string) []string {
	var names []string
	for _, n := range t.last.Named {
		if n.Kind == kind {
			names = append(names, n.Name)
		}
	}
	return names
}

// settle gives a thing that is new an origin of its own where its name is the origin of another one, and drops origins that equal the name.
func (l *Lineage) settle(version string) {
	taken := map[string]bool{}
	for _, n := range l.named {
		if n.Origin != "" {
			taken[bare(n.Kind, n.Origin)] = true
		}
	}
	for i := range l.named {
		n := &l.named[i]
		switch {
		case n.Origin == "" && taken[bare(n.Kind, n.Name)]:
			n.Origin = since(n.Kind, n.Name, version)
		case n.Origin == n.Name:
			n.Origin = ""
		}
	}
}

// Named returns the names of a version for its manifest.
func (l *Lineage) Named() []upgrade.Named {
	all := slices.Clone(l.named)
	for n := range all {
		all[n].Values = values(l.Spec, all[n])
	}
	return all
}

// NotFollowed reports the renames, none of which can be followed back to first names.
func (l *Lineage) NotFollowed(why string, errs *diag.List) {
	for n, d := range l.declared {
		if name := l.named[n]; name.Origin != "" {
			errs.Add(notRenamed(d.Field("renamed_from"), d, name.Origin, why))
		}
	}
}
