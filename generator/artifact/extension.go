// Package artifact turns the objects of a version, and of those released before it, into scripts and files.
//
// Files call downwards: layout, dbt, dbt_sources, tle, migrations, objects, jobs, ops, releases, scripts, banners, claims, extension, files.
package artifact

import (
	"slices"
	"time"

	"github.com/pgsluice/sluice/generator/objects"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Extension is a generated version of a spec.
type Extension struct {
	Name, Version, Schema string
	Objects               []upgrade.Object // in an order in which they can be created
	Artifacts             []string         // that the spec lists
	Every                 time.Duration    // between two ticks
	Queries               []plan.Query     // of the stream tables, in the order of their refreshes
	Notes                 []diag.Error     // on stream tables that are recomputed

	options map[string]string // of the whole spec
	named   []upgrade.Named
	made    []upgrade.Made
	view    render.Extension
	origins map[string]objects.Origin // of names, by kind and name
	fixed   map[string]Files          // by artifact, of a target that has no objects
}

// New returns the extension of a plan and its objects.
func New(p *plan.Plan, named []upgrade.Named, made *objects.Objects) *Extension {
	e := &Extension{
		Name: p.Spec.Extension.Name, Version: p.Spec.Extension.Version, Schema: p.Spec.Extension.Schema, Every: p.View.Every, Queries: p.Queries, Notes: p.Notes,
		Objects: made.List, made: made.Made, options: p.Spec.Options(), named: named, view: p.View, origins: made.Origins,
	}
	e.list(p.Spec)
	return e
}

// Fixed is the extension of a spec for a target that has files only, by artifact.
func Fixed(s *spec.Spec, files map[string]map[string]string) *Extension {
	e := &Extension{Name: s.Extension.Name, Version: s.Extension.Version, Schema: s.Extension.Schema, fixed: map[string]Files{}}
	for artifact, texts := range files {
		e.fixed[artifact] = texts
	}
	e.list(s)
	return e
}

// list notes the artifacts that a spec lists.
func (e *Extension) list(s *spec.Spec) {
	for _, a := range s.Artifacts {
		e.Artifacts = append(e.Artifacts, a.Value)
	}
}

// Manifest describes the version, for upgrades from it and to it.
func (e *Extension) Manifest() upgrade.Manifest {
	m := upgrade.NewManifest(e.Name, e.Version, e.Schema, e.view.InternalName, e.named, e.Objects, e.made)
	m.Options = e.options
	return m
}

// Digest changes whenever any object does.
func (e *Extension) Digest() string { return e.Manifest().Digest() }

// described are the objects with their headers as comments.
func (e *Extension) described() []upgrade.Object {
	described := slices.Clone(e.Objects)
	for n := range described {
		if header := objects.Header(described[n].SQL); header != "" {
			described[n].Comment = header
		}
	}
	return described
}

// Maintained returns the effective mode and strategy of a stream table, by its place in the order of refreshes, and the reason if it is
// recomputed.
func (e *Extension) Maintained(n int) (mode, strategy, reason string) {
	t := e.view.StreamTables[n]
	return t.EffectiveMode, t.Strategy, t.Reason
}
