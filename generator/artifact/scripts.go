package artifact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Flavour says how objects are installed: as ordinary ones, or as members of an extension.
type Flavour string

// The flavours, as pgt_extension and --flavour spell them.
const (
	Plain       Flavour = "plain"
	AsExtension Flavour = "extension"
	AsTLE       Flavour = "tle" // for --flavour alone: an extension whose scripts pg_tle keeps in the database
)

// Step is a part of an installation or an upgrade: the statements about one object.
type Step struct {
	What, SQL string
	Long      bool // it reads or fills a whole table
}

// Steps creates everything, in order, for one transaction. Stream tables in immediate mode are filled later, by Fill, or within it.
func (e *Extension) Steps(flavour Flavour, later bool) []Step {
	return steps(e.Manifest(), flavour, later)
}

func steps(m upgrade.Manifest, flavour Flavour, later bool) []Step {
	var steps []Step
	if names := requireNames(installClaims(m)); names != "" {
		steps = []Step{{What: "names", SQL: names}}
	}
	begins := banners(m.Objects)
	for n, o := range m.Objects {
		steps = append(steps, Step{What: o.ID(), SQL: begins[n] + o.Create(flavour == AsExtension)})
	}
	steps = append(steps, Step{What: "row pgt_extension", SQL: fmt.Sprintf("insert into %s.pgt_extension (name, version, digest, flavour)\nvalues (%s, %s, %s, %s);\n",
		sqltext.Ident(m.Schema), sqltext.Literal(m.Extension), sqltext.Literal(m.Version), sqltext.Literal(m.Digest()), sqltext.Literal(string(flavour)))})
	if flavour == Plain {
		steps = append(steps, Step{"what stands on users' tables", attach(m, later), true})
	}
	return steps
}

// Install is the script of all steps.
func (e *Extension) Install(flavour Flavour) string {
	return underOwnPath(joined(e.Steps(flavour, false)))
}

// InstallVersion is the script that installs a released version in the plain flavour.
func InstallVersion(m upgrade.Manifest) string { return underOwnPath(joined(steps(m, Plain, false))) }

// underOwnPath is a script that sees PostgreSQL's own names alone.
func underOwnPath(script string) string { return sqltext.SetOwnPath + script + sqltext.PutPathBack }

// joined writes steps with a blank line before each that has a header; a short statement without one belongs to what stands above it.
func joined(steps []Step) string { return between("", steps, "") }

// between writes joined steps between a head and a tail, in one piece of memory: scripts of hundreds of inboxes take many megabytes.
func between(head string, steps []Step, tail string) string {
	size := len(head) + len(tail)
	for _, step := range steps {
		size += len(step.SQL) + 1
	}
	var out strings.Builder
	out.Grow(size)
	out.WriteString(head)
	for n, step := range steps {
		if n > 0 && (strings.HasPrefix(step.SQL, "--") || strings.Count(step.SQL, "\n") > 2) {
			out.WriteString("\n")
		}
		out.WriteString(step.SQL)
	}
	out.WriteString(tail)
	return out.String()
}

// Attach is the statement that creates triggers on users' tables, and stream tables. With later, Fill fills stream tables in immediate mode.
func (e *Extension) Attach(later bool) string { return attach(e.Manifest(), later) }

func attach(m upgrade.Manifest, later bool) string {
	argument := ""
	if later && has(m, "function "+sqltext.Ident(m.Schema)+".attach(bool)") {
		argument = "false"
	}
	return fmt.Sprintf("select %s.attach(%s);\n", sqltext.Ident(m.Schema), argument)
}

func has(m upgrade.Manifest, id string) bool {
	return slices.ContainsFunc(m.Objects, func(o upgrade.Object) bool { return o.ID() == id })
}

// Fill is the statement that fills new stream tables, each in a transaction of its own; empty if there is none.
func (e *Extension) Fill() string { return fill(e.Manifest()) }

func fill(m upgrade.Manifest) string {
	if !has(m, "procedure "+sqltext.Ident(m.Internal)+".pgt_fill()") {
		return ""
	}
	return fmt.Sprintf("call %s.pgt_fill();\n", sqltext.Ident(m.Internal))
}

// Uninstall is the script that removes everything that Install(Plain) made, in reverse, for one transaction.
func (e *Extension) Uninstall() string { return uninstall(e.Manifest()) }

func uninstall(m upgrade.Manifest) string {
	return underOwnPath(requireVersion(m) + "\n" + requireNames(uninstallClaims(m)) + "\n" + UninstallBut(m, func(string) bool { return false }))
}

// UninstallBut is Uninstall without the objects that do not exist or that others made.
func UninstallBut(m upgrade.Manifest, gone func(id string) bool) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%sselect %s.detach();\n\n", dropCreated(m), sqltext.Ident(m.Schema))
	for n := len(m.Objects) - 1; n >= 0; n-- {
		o := m.Objects[n]
		_, table, _ := strings.Cut(o.Signature, " on ")
		if !gone(o.ID()) && (o.Kind != "trigger" || !gone("table "+table)) && o.Kind != upgrade.Policy { // which goes with its table
			out.WriteString(o.Drop)
		}
	}
	return out.String()
}

// UninstallExtension is UninstallBut for the flavour of that name. Schemas that hold something else are given up first: dropping them would fail.
func UninstallExtension(m upgrade.Manifest) string {
	name := sqltext.Ident(m.Extension)
	var schemas, drops strings.Builder
	for _, o := range m.Objects {
		if o.Kind == "schema" {
			fmt.Fprintf(&schemas, "    alter extension %s drop schema %s;\n", name, o.Signature)
			drops.WriteString(o.Drop)
		}
	}
	return dropCreated(m) + fmt.Sprintf("select %s.detach();\ndo $do$\nbegin\n    drop extension %s;\nexception when dependent_objects_still_exist then\n%s    drop extension %s;\nend;\n$do$;\n%s",
		sqltext.Ident(m.Schema), name, schemas.String(), name, drops.String())
}

// dropCreated drops the inboxes and stream tables that functions created; empty if none do.
func dropCreated(m upgrade.Manifest) (drops string) {
	schema := sqltext.Ident(m.Schema)
	if m.CreatesStreamTables() {
		drops += fmt.Sprintf("select %s.drop_stream_table(c.stream_table) from (select * from %s t order by t.no desc) c;\n",
			schema, sqltext.Qualified(m.Internal, "pgt_created_stream_tables"))
	}
	if m.CreatesInboxes() {
		drops += fmt.Sprintf("select %[1]s.drop_inbox(c.inbox_name, p_cascade => true) from %[1]s.pgt_inbox_config c where c.is_imperative;\n", schema)
	}
	return drops
}

// extensionScript is name--version.sql, which CREATE EXTENSION runs.
func extensionScript(m upgrade.Manifest) string {
	head := fmt.Sprintf("-- Extension %s %s, generated by Sluice. Do not edit: change the spec and generate again.\n\n"+
		"\\echo Use \"create extension %s\" to load this file. \\quit\n\n", m.Extension, m.Version, sqltext.Ident(m.Extension))
	return between(head+sqltext.SetOwnPath, steps(m, AsExtension, false), sqltext.PutPathBack)
}

// control is name.control. The script makes its schemas itself, so that they are members and go with the extension.
func control(m upgrade.Manifest) string {
	return fmt.Sprintf("# Extension %s, generated by Sluice.\ncomment = 'Generated by Sluice'\ndefault_version = '%s'\n"+
		"relocatable = false\nsuperuser = false\n", m.Extension, m.Version)
}

// makefile installs an extension's files through PGXS.
func makefile(name string) string {
	return fmt.Sprintf("# Installs extension %[1]s: make install, with PG_CONFIG naming the server's pg_config.\n"+
		"EXTENSION = %[1]s\nDATA = $(wildcard %[1]s--*.sql)\nPG_CONFIG ?= pg_config\nPGXS := $(shell $(PG_CONFIG) --pgxs)\ninclude $(PGXS)\n", name)
}
