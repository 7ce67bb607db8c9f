package sqltext

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Relation is the name of a table, view or sequence, unquoted.
type Relation struct{ Schema, Name string }

func (r Relation) String() string { return Qualified(r.Schema, r.Name) }

// Move puts relations into other schemas wherever a statement names them with theirs: in the body of a function too, and in constants
// that are names (to_regclass('a.b'), 'a.b'::regclass) or statements (execute 'create …').
func Move(sql string, to map[Relation]string) string {
	return moved(sql, func(r Relation) (string, bool) {
		schema, ok := to[r]
		return schema, ok
	})
}

// MoveSchemas is Move for GRANT … ON SCHEMA.
func MoveSchemas(sql string, to map[string]string) string {
	tokens := Scan(sql)
	var out strings.Builder
	done, listed := 0, false
	for i, t := range tokens {
		switch {
		case t.Token == pg_query.Token_SCHEMA:
			listed = true
		case t.Token == pg_query.Token_TO || t.Token == pg_query.Token_FROM:
			listed = false
		}
		name, ok := nameAt(sql, tokens, i)
		if schema, moves := to[name]; listed && ok && moves {
			out.WriteString(sql[done:t.Start] + Ident(schema))
			done = int(t.End)
		}
	}
	return out.String() + sql[done:]
}

func moved(sql string, to func(Relation) (string, bool)) string {
	tokens := Scan(sql)
	var out strings.Builder
	done := 0
	for i, t := range tokens {
		with := ""
		if t.Token == pg_query.Token_SCONST {
			with = movedConstant(sql, tokens, i, to)
		} else if r, ok := relationAt(sql, tokens, i); ok {
			if schema, moves := to(r); moves {
				with = Ident(schema)
			}
		}
		if with != "" {
			out.WriteString(sql[done:t.Start] + with)
			done = int(t.End)
		}
	}
	return out.String() + sql[done:]
}

// movedConstant is the constant with what it names moved; empty if it names nothing that moves.
func movedConstant(sql string, tokens []*pg_query.ScanToken, i int, to func(Relation) (string, bool)) string {
	text := sql[tokens[i].Start:tokens[i].End]
	if tag := DollarTag.FindString(text); tag != "" {
		return tag + moved(strings.TrimSuffix(text[len(tag):], tag), to) + tag
	}
	if !strings.HasPrefix(text, "'") || !isCode(sql, tokens, i) {
		return ""
	}
	return Literal(moved(Constant(text), to))
}

// isCode reports whether a constant is a name or a statement.
func isCode(sql string, tokens []*pg_query.ScanToken, i int) bool {
	if i+1 < len(tokens) && tokens[i+1].Token == pg_query.Token_TYPECAST {
		return true
	}
	word := func(n int) string {
		if n < 0 {
			return ""
		}
		return sql[tokens[n].Start:tokens[n].End]
	}
	return word(i-1) == "execute" || word(i-1) == "(" && slices.Contains(takeNames, word(i-2))
}

// takeNames are functions whose first argument is the name of a relation.
var takeNames = []string{"to_regclass", "pgt_missing", "pgt_drop_own"}

// Makes lists the relations that a statement creates, also in the body of a function.
func Makes(sql string) []Relation {
	return namedAfter(sql, func(words []string) bool {
		n := len(words) - 1
		switch words[n] {
		case "table", "sequence", "view":
			return n > 0 && words[0] == "create" && (n == 1 || words[n-1] == "replace" || words[n-1] == "unlogged")
		case "name": // alter table … add generated … as identity (sequence name …)
			return words[0] == "alter" && words[n-1] == "sequence"
		}
		return false
	})
}

// ParseRelation reads schema.name.
func ParseRelation(text string) (Relation, bool) { return relationAt(text, Scan(text), 0) }

// Unquoted is the name that an identifier stands for.
func Unquoted(ident string) string {
	if name, ok := nameAt(ident, Scan(ident), 0); ok {
		return name
	}
	return ident
}

// Triggered lists the relations on which a statement creates triggers, also in the body of a function.
func Triggered(sql string) []Relation {
	return namedAfter(sql, func(words []string) bool {
		n := len(words) - 1
		trigger, before := slices.Index(words, "trigger"), slices.Index(words, "execute")
		return words[n] == "on" && words[0] == "create" && trigger > 0 && before < 0
	})
}

// namedAfter lists the relations that follow words of a statement, from its create or drop on, which follows accepts.
func namedAfter(sql string, follows func([]string) bool) []Relation {
	var found []Relation
	tokens := Scan(sql)
	var words []string
	for i, t := range tokens {
		text := sql[t.Start:t.End]
		switch {
		case t.Token == pg_query.Token_SCONST:
			if tag := DollarTag.FindString(text); tag != "" {
				found = append(found, namedAfter(strings.TrimSuffix(text[len(tag):], tag), follows)...)
			} else if strings.HasPrefix(text, "'") && isCode(sql, tokens, i) {
				found = append(found, namedAfter(Constant(text), follows)...)
			}
		case text == "create" || text == "drop":
			words = nil
		}
		if r, ok := relationAt(sql, tokens, i); ok && len(words) > 0 && follows(words) {
			found = append(found, r)
		}
		words = append(words, strings.ToLower(text))
	}
	return found
}

// relationAt reads schema.name, where token i is the schema.
func relationAt(sql string, tokens []*pg_query.ScanToken, i int) (r Relation, ok bool) {
	dot := func(n int) bool { return n >= 0 && n < len(tokens) && tokens[n].Token == pg_query.Token_ASCII_46 }
	if dot(i-1) || !dot(i+1) || i+2 >= len(tokens) {
		return r, false
	}
	if r.Schema, ok = nameAt(sql, tokens, i); ok {
		r.Name, ok = nameAt(sql, tokens, i+2)
	}
	return r, ok
}

// nameAt reads a token as a name.
func nameAt(sql string, tokens []*pg_query.ScanToken, i int) (string, bool) {
	if i >= len(tokens) {
		return "", false
	}
	t := tokens[i]
	if t.Token != pg_query.Token_IDENT && t.KeywordKind == pg_query.KeywordKind_NO_KEYWORD {
		return "", false
	}
	text := sql[t.Start:t.End]
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`), true
	}
	return strings.ToLower(text), true
}
