package ddl

import (
	"errors"
	"fmt"

	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// unreadable reports a statement that the grammar does not know, if it makes or changes a relation.
func (r *reader) unreadable(err error) {
	name, relational := r.relation()
	if !relational {
		return
	}
	if name.Name != "" {
		r.add(&NotUnderstood{place: place(name.Pos), Name: name})
	}
	problem := &sqltext.Error{Message: err.Error()}
	errors.As(sqltext.LocatedIn(r.text, err), &problem)
	r.errors = append(r.errors, &sqltext.Error{Offset: r.pos(problem.Offset), Message: problem.Message})
}

// misspelled reports a statement whose first word is no keyword: no statement of any version begins so.
func (r *reader) misspelled() {
	if tokens := r.scan(); len(tokens) > 0 && tokens[0].Token == pg_query.Token_IDENT {
		first := r.text[tokens[0].Start:tokens[0].End]
		r.errors = append(r.errors, &sqltext.Error{Offset: r.pos(int(tokens[0].Start)), Message: fmt.Sprintf("syntax error at or near %q", first)})
	}
}

// relation returns the name of the relation that a statement makes or changes, going by its first words: for statements that the grammar
// does not know. It is false for statements that can be skipped.
func (r *reader) relation() (name ObjectName, relational bool) {
	tokens := r.scan()
	for i, t := range tokens {
		switch t.Token {
		case pg_query.Token_TABLE, pg_query.Token_VIEW:
			rest := tokens[i+1:]
			return r.relationName(rest), tokens[0].Token == pg_query.Token_CREATE || structural(rest)
		case pg_query.Token_CREATE, pg_query.Token_ALTER, pg_query.Token_DROP, pg_query.Token_OR, pg_query.Token_REPLACE, pg_query.Token_UNLOGGED, pg_query.Token_FOREIGN,
			pg_query.Token_MATERIALIZED, pg_query.Token_RECURSIVE, pg_query.Token_GLOBAL, pg_query.Token_LOCAL, pg_query.Token_TEMP, pg_query.Token_TEMPORARY:
		default:
			return ObjectName{}, t.Token == pg_query.Token_IDENT // what is made has no keyword: it is misspelled
		}
	}
	return ObjectName{}, false
}

// structural reports whether an ALTER TABLE may change columns, keys, or the name.
func structural(tokens []*pg_query.ScanToken) bool {
	for _, t := range tokens {
		switch t.Token {
		case pg_query.Token_ADD_P, pg_query.Token_DROP, pg_query.Token_RENAME, pg_query.Token_TYPE_P, pg_query.Token_ATTACH, pg_query.Token_INHERIT:
			return true
		}
	}
	return false
}

// relationName reads a name, after IF NOT EXISTS or ONLY.
func (r *reader) relationName(tokens []*pg_query.ScanToken) ObjectName {
	for len(tokens) > 0 {
		switch tokens[0].Token {
		case pg_query.Token_IF_P, pg_query.Token_NOT, pg_query.Token_EXISTS, pg_query.Token_ONLY:
			tokens = tokens[1:]
			continue
		}
		break
	}
	if len(tokens) == 0 {
		return ObjectName{}
	}
	name := ObjectName{Pos: r.pos(int(tokens[0].Start)), Name: identifier(r.text, tokens[0])}
	if len(tokens) > 2 && tokens[1].Token == pg_query.Token_ASCII_46 {
		name.Schema, name.Name = name.Name, identifier(r.text, tokens[2])
	}
	return name
}
