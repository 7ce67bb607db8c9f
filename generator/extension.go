// Package generator turns a spec into an ordered list of database objects, and that list into files. It is pure: it reads no
// file and talks to no server, and the same spec gives the same bytes.
package generator

import (
	"slices"
	"strings"
	"time"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Object is one database object.
type Object = upgrade.Object

// Extension is everything that is generated for one spec.
type Extension struct {
	Name, Version, Schema string
	Objects               []Object // in an order in which they can be created
	named                 []upgrade.Named
	made                  []upgrade.Made
	jobs                  map[string]string
	view                  render.Extension
	places                map[string]origin // of names, by kind and name

	Artifacts []string      // that the spec lists
	Every     time.Duration // between two ticks
	Queries   []Query       // of the stream tables, in the order of their refreshes
}

// InternalSchema is the schema of what an extension in a schema keeps to itself.
func InternalSchema(schema string) string { return spec.InternalSchema(schema) }

// Manifest describes the version, for upgrades from it and to it.
func (e *Extension) Manifest() upgrade.Manifest {
	return upgrade.NewManifest(e.Name, e.Version, e.Schema, e.view.InternalName, e.named, e.Objects, e.made)
}

// Digest changes whenever any object does.
func (e *Extension) Digest() string { return e.Manifest().Digest() }

// described are the objects with comments as people read them: without the mark, and that of an internal object from its header.
func (e *Extension) described() []Object {
	objects := slices.Clone(e.Objects)
	for n := range objects {
		objects[n].Comment = sqltext.Unmarked(objects[n].Comment, e.view.Mark())
		if objects[n].Comment == "" {
			objects[n].Comment = header(objects[n].SQL)
		}
	}
	return objects
}

// header splits a rendered object into the first sentence group of its leading comment, which documents it in the catalog too.
func header(sql string) string {
	var lines []string
	for _, line := range strings.Split(sql, "\n") {
		text, isComment := strings.CutPrefix(line, "--")
		text = strings.TrimSpace(text)
		if !isComment || text == "" || strings.HasPrefix(text, "Reads ") || strings.HasPrefix(text, "Writes ") || strings.HasPrefix(text, "From ") {
			break
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, " ")
}
