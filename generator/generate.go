// Package generator turns a spec into files. It is pure: it reads no file and connects to no server, and the same spec gives the same bytes. A
// spec passes its rooms once, in this order:
//
//	plan      compiles the spec: views, change logs, the order of refreshes, schedules
//	objects   turns the plan into database objects, in an order in which they can be created
//	artifact  turns the objects into scripts and files
//
// A spec for CockroachDB or Citus passes one room instead, fixed.
package generator

import (
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/fixed"
	"github.com/pgsluice/sluice/generator/objects"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Generate compiles a valid spec into an extension, as the next version after the released ones, oldest first. Errors that depend on the
// whole, such as clashes between generated names, are reported at their place in the spec, and the extension is nil.
func Generate(s *spec.Spec, released ...upgrade.Manifest) (*artifact.Extension, *diag.List) {
	errs := &diag.List{}
	if s.FixedTarget() {
		if errs = plan.Check(s); !errs.Empty() {
			return nil, errs
		}
		sharded := plan.Sharded(s, errs)
		if !errs.Empty() {
			return nil, errs
		}
		return artifact.Fixed(s, fixed.Files(s, sharded)), errs
	}
	names := plan.Trace(s, released, errs)
	planned, made := objectsOf(names.Spec, names, names.Last, errs)
	if made == nil {
		return nil, errs
	}
	if names.Moved() {
		follow(made, names, errs)
	}
	upgrade.KeepOrder(names.Released, made.List)
	e := artifact.New(planned, names.Named(), made)
	if last := names.Last; errs.Empty() && last.Version != "" {
		for _, refused := range upgrade.OtherColumns(last, e.Manifest()) {
			errs.Add(otherColumns(s, refused))
		}
	}
	if !errs.Empty() {
		return nil, errs
	}
	return e, errs
}

// objectsOf plans a spec and creates its objects; both are nil after an error. last is the release before, empty if there is none.
func objectsOf(s *spec.Spec, names *plan.Lineage, last upgrade.Manifest, errs *diag.List) (*plan.Plan, *objects.Objects) {
	planned := plan.Of(s, names, errs)
	if planned == nil {
		return nil, nil
	}
	planned.View.KeepsWires = last.Has("table " + planned.View.In("pgt_inbox_quarantine").String())
	return planned, objects.Of(planned, errs)
}

// follow notes the first names of objects: versions are compared under the names that everything was released under first. It plans the spec
// with these names and pairs the objects.
func follow(made *objects.Objects, names *plan.Lineage, errs *diag.List) {
	problems := &diag.List{}
	_, first := objectsOf(names.Original, &plan.Lineage{}, names.Last, problems)
	if first == nil {
		names.NotFollowed(problems.Errors()[0].Message, errs)
		return
	}
	upgrade.KeepOrder(names.Released, first.List)
	if err := made.Follow(first); err != nil {
		names.NotFollowed(err.Error(), errs)
	}
}

// otherColumns is at the query that changes the columns.
func otherColumns(s *spec.Spec, refused upgrade.Refused) diag.Error {
	e := diag.Error{Pos: s.At, Code: "outbox-columns", Message: refused.Message, Hint: refused.Hint}
	for _, t := range s.StreamTables {
		if render.Name(t.Relation).Plain() == refused.Made {
			e.Pos = t.Query.At
			e.Also = []diag.Note{{Pos: t.Outbox.At, Message: "the outbox stands here"}}
		}
	}
	return e
}

// Extension is a generated version of a spec.
type Extension = artifact.Extension

// Files are generated files in memory: contents by slash-separated path below the output directory.
type Files = artifact.Files

// InternalSchema is the schema of the objects that users neither call nor read.
func InternalSchema(schema string) string { return spec.InternalSchema(schema) }

// Flavour says how objects are installed: as ordinary ones, or as members of an extension.
type Flavour = artifact.Flavour

// The flavours, as pgt_extension and --flavour spell them.
const (
	Plain       = artifact.Plain
	AsExtension = artifact.AsExtension
	AsTLE       = artifact.AsTLE
)

// IsShared reports whether a module of the runtime has an object of this name.
func IsShared(name string) bool { return render.IsShared(name) }
