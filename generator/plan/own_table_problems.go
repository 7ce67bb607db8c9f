package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
)

// What is wrong with the table of a user that an inbox is over.

func unknownTable(at diag.Pos, i *spec.Inbox, known *catalog.Catalog, hasDDL bool) diag.Error {
	hint := "name the file with its DDL under schema:, or generate with --dsn"
	if hasDDL {
		hint = "add its DDL to a file of schema:"
		if near := diag.Nearest(i.Table, slices.Concat(known.RelationNames(), known.QualifiedNames())); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	return diag.Error{Pos: at, Code: "unknown-table", Message: fmt.Sprintf("table %q of inbox %q does not exist", i.Table, i.Name), Hint: hint}
}

func unfitTable(at diag.Pos, i *spec.Inbox, r *catalog.Relation, why string) diag.Error {
	return diag.Error{
		Pos: at, Code: "bad-table", Message: fmt.Sprintf("%s cannot be the table of inbox %q: %s", r.SQLName(), i.Name, why),
		Hint: "an inbox needs an ordinary or a partitioned table, all of whose rows are written by its own name", Also: []diag.Note{{Pos: r.At, Message: "it stands here"}},
	}
}

func noOwnColumn(at diag.Pos, role role, r *catalog.Relation) diag.Error {
	hint := "name the one that it has in " + role.setting("…")
	if near := diag.Nearest(role.name, r.ColumnNames()); near != "" {
		hint = fmt.Sprintf("did you mean %q? Write %s", near, role.setting(near))
	}
	return diag.Error{
		Pos: at, Code: "unknown-column", Message: fmt.Sprintf("column %q of table %s does not exist", role.name, r.SQLName()),
		Hint: hint, Also: []diag.Note{{Pos: r.At, Message: "the table stands here"}},
	}
}

// unlike is an error about a column that is there.
func unlike(at diag.Pos, r *catalog.Relation, column catalog.Column, code, message, hint string) diag.Error {
	return diag.Error{
		Pos: at, Code: code, Message: fmt.Sprintf("column %q of table %s %s", column.Name, r.SQLName(), message), Hint: hint,
		Also: []diag.Note{{Pos: cmp.Or(column.At, r.At), Message: "it stands here"}},
	}
}

func wrongType(at diag.Pos, role role, r *catalog.Relation, column catalog.Column) diag.Error {
	last := len(role.types) - 1
	types := role.types[last]
	if last > 0 {
		types = strings.Join(role.types[:last], ", ") + " or " + types
	}
	return unlike(at, r, column, "wrong-type", fmt.Sprintf("is of type %s, and %s of an inbox is of type %s", column.Type, role.what(), types),
		fmt.Sprintf("name another one in %s; Sluice never alters your table", role.setting("…")))
}

func usedTwice(at diag.Pos, role role, r *catalog.Relation, column catalog.Column) diag.Error {
	return unlike(at, r, column, "conflict", "is for something else, too", "name a column of its own in "+role.setting("…"))
}

func reservedColumn(at diag.Pos, role role, r *catalog.Relation, column catalog.Column) diag.Error {
	return unlike(at, r, column, "reserved-name", "has the name of a column of Sluice's own, which stream tables store beside others", "leave materialize out, or name another one in "+role.setting("…"))
}

func generatedColumn(at diag.Pos, role role, r *catalog.Relation, column catalog.Column) diag.Error {
	return unlike(at, r, column, "wrong-type", fmt.Sprintf("is generated, and marks write %s", role.field), "name another one in "+role.setting("…"))
}

func neverNull(at diag.Pos, role role, r *catalog.Relation, column catalog.Column) diag.Error {
	return unlike(at, r, column, "not-null", fmt.Sprintf("is not null, and null says that a message has no %s", role.field), "alter it: drop not null; Sluice never alters your table")
}

func mayBeNull(at diag.Pos, role role, r *catalog.Relation, column catalog.Column) diag.Error {
	return unlike(at, r, column, "nullable", fmt.Sprintf("may be null, and each message has %s", role.field), "alter it: set not null; Sluice never alters your table")
}

// notUnique is an error about columns that are no key of the table.
func notUnique(at diag.Pos, i *spec.Inbox, r *catalog.Relation, ids []int) diag.Error {
	names := func(columns []int) (names []string) {
		for _, c := range columns {
			names = append(names, r.Columns[c].Name)
		}
		return names
	}
	hint := "add a unique constraint on it alone, or name the column that has one in columns: {id: …}"
	if len(ids) > 1 {
		hint = "add a unique constraint on just these, or name the columns that have one in columns: {id: …}"
	}
	if slices.Contains(r.Key, ids[0]) {
		hint = fmt.Sprintf("name the columns of the table's key: columns: {id: [%s]}", strings.Join(names(r.Key), ", "))
	}
	if len(r.Key) == 1 && len(ids) > 1 {
		hint = fmt.Sprintf("name the column that is unique by itself: columns: {id: %s}", r.Columns[r.Key[0]].Name)
	}
	if len(ids) > 1 {
		return diag.Error{
			Pos: at, Code: "not-unique", Hint: hint, Also: []diag.Note{{Pos: r.At, Message: "the table stands here"}},
			Message: fmt.Sprintf("table %s has no unique key of just the columns %s, so that inbox %q would store messages twice", r.SQLName(), strings.Join(names(ids), ", "), i.Name),
		}
	}
	return unlike(at, r, r.Columns[ids[0]], "not-unique", fmt.Sprintf("is not unique by itself, so that inbox %q would store messages twice", i.Name), hint)
}
