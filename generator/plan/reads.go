package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Read is a table or view that a spec reads.
type Read struct {
	At     diag.Pos
	Name   spec.Name   // as it is written
	LookIn []spec.Name // what the name may mean, in the order of the search path
	Own    bool        // if it is none of these, the spec itself makes it
}

// Reads lists the relations and names that a spec needs in a database.
type Reads struct {
	Path   []string    // the schemas in which names without one are looked up
	Made   []spec.Name // what the spec makes itself
	Tables []Read
	Uses   []sqltext.Use // functions, operators, types and collations that queries name
}

// ReadsOf finds the relations that the queries and adopted inboxes of a spec read, and reports errors in its queries.
func ReadsOf(s *spec.Spec) (*Reads, *diag.List) {
	errs := &diag.List{}
	reads := &Reads{Path: searchPath(s), Made: s.Makes()}
	for i := range s.StreamTables {
		query := s.StreamTables[i].Query
		found, err := sqltext.ReadsOf(query.Text)
		if err != nil {
			errs.Add(ivm.SyntaxError(query.Pos, err))
			continue
		}
		reads.Uses = append(reads.Uses, found.Uses...)
		for _, t := range found.Tables {
			reads.add(query.Pos(t.Pos), spec.Name{Schema: t.Schema, Name: t.Name})
		}
	}
	for i := range s.Inboxes {
		if inbox := &s.Inboxes[i]; !inbox.Managed() {
			reads.add(inbox.Field("table"), inbox.Relation)
		}
	}
	return reads, errs
}

// Name adds a table or view by its name, even if the spec makes it.
func (r *Reads) Name(at diag.Pos, name spec.Name) {
	read := Read{At: at, Name: name, LookIn: []spec.Name{name}}
	if name.Schema == "" {
		read.LookIn = nil
		for _, schema := range r.Path {
			read.LookIn = append(read.LookIn, spec.Name{Schema: schema, Name: name.Name})
		}
	}
	r.Tables = append(r.Tables, read)
}

// add adds a relation unless its name can only mean one that the spec makes. Schemas that come before that one in the search path are looked
// at.
func (r *Reads) add(at diag.Pos, name spec.Name) {
	read := Read{At: at, Name: name}
	schemas := r.Path
	if name.Schema != "" {
		schemas = []string{name.Schema}
	}
	for _, schema := range schemas {
		full := spec.Name{Schema: schema, Name: name.Name}
		if read.Own = slices.Contains(r.Made, full); read.Own {
			break
		}
		read.LookIn = append(read.LookIn, full)
	}
	if len(read.LookIn) > 0 {
		r.Tables = append(r.Tables, read)
	}
}
