package plan

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
)

func badExpression(at diag.Pos, field string, err error) diag.Error {
	return diag.Error{
		Pos: at, Code: "syntax",
		Message: fmt.Sprintf("%s is not an expression: %v", field, err),
		Hint:    "write an expression over payload, such as payload->>'id'",
	}
}

// readsItself takes the stream tables of a cycle, of which each reads the next.
func readsItself(at diag.Pos, way []string) diag.Error {
	e := diag.Error{Pos: at, Code: "cycle", Message: fmt.Sprintf("stream table %s reads itself", way[0]), Hint: "a table cannot follow its own changes"}
	if len(way) > 2 {
		e.Message += ": " + strings.Join(way, " reads ")
	}
	return e
}

func unreadableName(at diag.Pos, r *catalog.Relation) diag.Error {
	return diag.Error{
		Pos: at, Code: "bad-name",
		Message: fmt.Sprintf("the name of %s %q.%q holds a control character", r.Kind, r.Schema, r.Name),
		Hint:    "rename it: comments of generated SQL name what they read",
		Also:    []diag.Note{{Pos: r.At, Message: "that stands here"}},
	}
}

func nameTaken(at diag.Pos, name string, by *catalog.Relation) diag.Error {
	return diag.Error{
		Pos: at, Code: "name-clash",
		Message: fmt.Sprintf("stream table %s has the name of a %s", name, by.Kind),
		Hint:    "give it another, or a schema of its own; if that is the stream table itself, from a dump, \"sluice schema pull\" writes the DDL without it",
		Also:    []diag.Note{{Pos: by.At, Message: "that stands here"}},
	}
}

func notIncremental(mode string, at diag.Pos, what, hint string) diag.Error {
	if hint == "" {
		hint = "use refresh_mode auto or full, which recompute it"
	}
	return diag.Error{Pos: at, Code: "not-incremental", Message: fmt.Sprintf("refresh mode %s does not follow %s", mode, indefinite(what)), Hint: hint}
}

func notImmediate(at diag.Pos, what, hint string) diag.Error {
	return diag.Error{Pos: at, Code: "not-immediate", Message: "refresh mode immediate cannot follow " + what, Hint: hint}
}

func movesWithTime(at diag.Pos, mode string) diag.Error {
	return diag.Error{
		Pos: at, Code: "not-" + strings.ReplaceAll(mode, "_", "-"),
		Message: fmt.Sprintf("refresh mode %s cannot follow the time, which passes without any statement", mode),
		Hint:    "use refresh_mode auto or differential, or compare with it where the stream table is read",
	}
}

func notAtCommit(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "not-at-commit", Message: "refresh mode at_commit cannot follow stream table " + name + ", which changes within statements",
		Hint: "make both at_commit, or both immediate",
	}
}

func tooWide(at diag.Pos, what string, columns int) diag.Error {
	return diag.Error{
		Pos: at, Code: "too-wide",
		Message: fmt.Sprintf("%s makes %d columns to store, and a table can hold %d of them", what, columns, mostColumns),
		Hint:    "select fewer columns",
	}
}

func record(at diag.Pos, column string) diag.Error {
	return diag.Error{
		Pos: at, Code: "bad-column",
		Message: fmt.Sprintf("column %s is a row without a type, which no table can hold", column),
		Hint:    "select its values as columns of their own, or cast it to a type of yours",
	}
}

func systemColumn(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "reserved-name",
		Message: fmt.Sprintf("column %q has the name of one that each table has itself, so that no table can store it", name),
		Hint:    "give it another name with AS",
	}
}

func repeatedColumn(at, first diag.Pos, name string) diag.Error {
	e := diag.Error{
		Pos: at, Code: "duplicate-column",
		Message: fmt.Sprintf("column %q specified more than once", name),
		Hint:    "give it another name with AS",
	}
	if first == at { // both come from a star
		e.Hint = "name the columns instead, and give one of the two another name with AS"
	} else {
		e.Also = []diag.Note{{Pos: first, Message: "the other one is here"}}
	}
	return e
}

func nameTooLong(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "name-too-long",
		Message: fmt.Sprintf("name %q is %d bytes long; PostgreSQL's names have at most %d", name, len(name), spec.MaxNameBytes),
		Hint:    "shorten it; PostgreSQL would cut it off, without an error",
	}
}

func internalColumn(at diag.Pos, name string) diag.Error {
	return diag.Error{
		Pos: at, Code: "reserved-name",
		Message: fmt.Sprintf("column %q has the name of a column of Sluice's own, which it stores beside the query's", name),
		Hint:    "give it another name with AS",
	}
}

func needsColumns(at diag.Pos, what string) diag.Error {
	return diag.Error{
		Pos: at, Code: "unknown-column",
		Message: "which columns * stands for only the server knows, and not " + what,
		Hint:    "name the columns",
	}
}

// Unindexable is the error for an index of values that cannot be sorted.
func Unindexable(at diag.Pos, typ string) diag.Error {
	return diag.Error{
		Pos: at, Code: "no-ordering", Message: fmt.Sprintf("data type %s has no default operator class for access method \"btree\"", typ),
		Hint: "leave the column out, or select an expression that can be sorted",
	}
}

func noColumn(column spec.Text, table string, names []string) diag.Error {
	e := diag.Error{
		Pos: column.At, Code: "unknown-column",
		Message: fmt.Sprintf("column %q does not exist in stream table %s", column.Value, table),
		Hint:    "its columns are " + strings.Join(names, ", "),
	}
	if near := diag.Nearest(column.Value, names); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return e
}

func renamedFromLive(at, live diag.Pos, d declared) diag.Error {
	return diag.Error{
		Pos: at, Code: "bad-rename",
		Message: fmt.Sprintf("%s %q is renamed from %q, which is still defined", d.kind, d.name, d.from),
		Hint:    "remove the old definition, or renamed_from",
		Also:    []diag.Note{{Pos: live, Message: "the other one is here"}},
	}
}

func renamedTooLate(at diag.Pos, d declared, version, now string) diag.Error {
	e := diag.Error{
		Pos: at, Code: "bad-rename",
		Message: fmt.Sprintf("%s %q is renamed from %q, which version %s no longer has", d.kind, d.name, d.from, version),
		Hint:    "its data went with that version; leave renamed_from out",
	}
	if now != "" {
		e.Hint = fmt.Sprintf("it is called %q there; did you mean that?", now)
	}
	return e
}

func renamedKind(at diag.Pos, d declared, kind string) diag.Error {
	return diag.Error{
		Pos: at, Code: "bad-rename",
		Message: fmt.Sprintf("%s %q is renamed from %q, which was released as %s %s", d.kind, d.name, d.from, article(kind), kind),
		Hint:    "a rename keeps the kind, and its data; leave renamed_from out",
	}
}

func renamedUnknown(at diag.Pos, d declared, known []string) diag.Error {
	e := diag.Error{
		Pos: at, Code: "bad-rename",
		Message: fmt.Sprintf("%s %q is renamed from %q, which no released version has", d.kind, d.name, d.from),
		Hint:    fmt.Sprintf("no %s is released; leave renamed_from out", d.kind),
	}
	if near := diag.Nearest(d.from, known); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(known) > 0 {
		e.Hint = fmt.Sprintf("the last one has %s", strings.Join(known, ", "))
	}
	return e
}

func notRenamed(at diag.Pos, d declared, first, why string) diag.Error {
	return diag.Error{
		Pos: at, Code: "bad-rename",
		Message: fmt.Sprintf("%s %q cannot be followed back to its first name, %q: %s", d.kind, d.name, first, why),
		Hint:    "give another name to what is in the way",
	}
}

// indefinite puts an article before a part of a query, unless it has one, is several, or is words of SQL alone.
func indefinite(what string) string {
	first, rest, _ := strings.Cut(what, " ")
	isWords := first == strings.ToUpper(first) && !strings.HasPrefix(rest, "subquery")
	if first == "the" || strings.HasSuffix(first, "s") || strings.HasSuffix(what, "sets") || isWords {
		return what
	}
	return article(what) + " " + what
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an"
	}
	return "a"
}
