package pull

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// relation is a table, a view or a sequence by name.
type relation struct {
	OID          int64
	Schema, Name string
	Kind         string // as pg_class.relkind
	System       bool   // the server's own
	Reachable    bool   // the role may use its schema
	Readable     bool   // the role may read a column of it
}

// known is a table or view that a request could name.
type known struct {
	OID          int64
	Schema, Name string
	Kind         string
	Made         bool // by an extension, or by Sluice
}

// resolve finds the tables and views that a request names.
func (db *database) resolve(request Request, errs *diag.List) ([]int64, error) {
	names, err := rows[known](db, "names")
	if err != nil {
		return nil, err
	}
	found, err := db.relations(request.Reads.Tables)
	if err != nil {
		return nil, err
	}
	roots := db.inSchemas(names, request)
	for _, schema := range request.Schemas {
		if !slices.ContainsFunc(names, func(n known) bool { return n.Schema == schema }) {
			errs.Add(emptySchema(schema, names))
		}
	}
	refused := &diag.List{}
	for _, read := range request.Reads.Tables {
		r, ok := lookup(found, meanings(read))
		switch {
		case ok && r.problem(read, errs, refused):
		case ok:
			roots = append(roots, r.OID)
		case !read.Own:
			errs.Add(unknownRelation(read, names, request.Reads.Path))
		}
	}
	if errs.Empty() && !refused.Empty() {
		return nil, Refused{refused}
	}
	errs.Merge(refused)
	return roots, nil
}

// problem reports why a relation cannot be read: what is wrong with the input, and what the role lacks.
func (r relation) problem(read plan.Read, errs, refused *diag.List) bool {
	switch {
	case r.Kind == "S":
		errs.Add(notARelation(read.At, "sequence", read.Name.String()))
	case r.System:
		errs.Add(notARelation(read.At, "system catalog", read.Name.String()))
	case !r.Reachable:
		refused.Add(denied(read.At, "schema", r.Schema, "grant usage on schema "+sqltext.Ident(r.Schema)))
	case !r.Readable:
		refused.Add(denied(read.At, kindWord(r.Kind), r.Name, "grant select on "+sqltext.Qualified(r.Schema, r.Name)))
	default:
		return false
	}
	return true
}

// inSchemas returns the tables and views of the schemas that a request names, but for what an extension or Sluice made.
func (db *database) inSchemas(names []known, request Request) []int64 {
	var roots []int64
	for _, n := range names {
		made := slices.Contains(request.Reads.Made, spec.Name{Schema: n.Schema, Name: n.Name})
		db.made[n.OID] = made
		if !made && !n.Made && (request.All || slices.Contains(request.Schemas, n.Schema)) {
			roots = append(roots, n.OID)
		}
	}
	return roots
}

// relations looks up all that names may mean.
func (db *database) relations(reads []plan.Read) (map[spec.Name]relation, error) {
	var schemas, names []string
	for _, read := range reads {
		for _, name := range meanings(read) {
			schemas, names = append(schemas, name.Schema), append(names, name.Name)
		}
	}
	all, err := rows[relation](db, "relations", schemas, names)
	found := map[spec.Name]relation{}
	for _, r := range all {
		found[spec.Name{Schema: r.Schema, Name: r.Name}] = r
	}
	return found, err
}

// meanings are what a name may mean, at the end a catalog of the server, to distinguish it from what does not exist.
func meanings(read plan.Read) []spec.Name {
	if read.Name.Schema != "" {
		return read.LookIn
	}
	return slices.Concat(read.LookIn, []spec.Name{{Schema: "pg_catalog", Name: read.Name.Name}})
}

func lookup(found map[spec.Name]relation, names []spec.Name) (relation, bool) {
	for _, name := range names {
		if r, ok := found[name]; ok {
			return r, true
		}
	}
	return relation{}, false
}

func kindWord(kind string) string {
	switch kind {
	case "v":
		return "view"
	case "m":
		return "materialized view"
	case "f":
		return "foreign table"
	}
	return "table"
}

func unknownRelation(read plan.Read, names []known, path []string) diag.Error {
	return diag.Error{
		Pos: read.At, Code: "unknown-table", Message: fmt.Sprintf("relation %q does not exist in the database", read.Name),
		Hint: nearest(read.Name, names, path),
	}
}

// nearest prefers a relation of the very name in another schema to one of a similar name.
func nearest(name spec.Name, names []known, path []string) string {
	var elsewhere, spelled []string
	for _, n := range names {
		full := spec.Name{Schema: n.Schema, Name: n.Name}.String()
		if n.Name == name.Name {
			elsewhere = append(elsewhere, full)
		}
		if name.Schema == "" && slices.Contains(path, n.Schema) {
			full = n.Name
		}
		spelled = append(spelled, full)
	}
	if near := diag.Nearest(name.String(), spelled); near != "" && len(elsewhere) == 0 {
		elsewhere = []string{near}
	}
	switch {
	case len(elsewhere) > 0:
		return fmt.Sprintf("did you mean %s?", quotedList(elsewhere))
	case name.Schema == "":
		return "names without a schema are looked up in " + strings.Join(path, " and ")
	}
	return ""
}

func quotedList(names []string) string {
	for i, n := range names {
		names[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(names[:min(len(names), 3)], " or ")
}

func emptySchema(schema string, names []known) diag.Error {
	var schemas []string
	for _, n := range names {
		schemas = append(schemas, n.Schema)
	}
	e := diag.Error{Pos: diag.Pos{File: "--schema"}, Code: "unknown-schema", Message: fmt.Sprintf("schema %q holds no table or view, or does not exist", schema)}
	if near := diag.Nearest(schema, schemas); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return e
}

func notARelation(at diag.Pos, kind, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "not-a-table", Message: fmt.Sprintf("%q is a %s; only tables and views can be read", name, kind),
		Hint: "stream tables follow the changes of tables",
	}
}

func denied(at diag.Pos, kind, name, grant string) diag.Error {
	return diag.Error{Pos: at, Code: "permission-denied", Message: fmt.Sprintf("permission denied for %s %s", kind, name), Hint: grant + " to the role, or connect as another"}
}
