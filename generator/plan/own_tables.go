package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Types that columns of users' tables may have.
var (
	idTypes      = []string{"text", "character varying", "uuid", "bigint", "integer", "smallint"}
	countTypes   = []string{"integer"}
	textTypes    = []string{"text", "character varying"}
	timeTypes    = []string{"timestamp with time zone"}
	payloadTypes = []string{"jsonb"}
)

// role is what a column of a user's table is for.
type role struct {
	field, name string
	types       []string
	optional    bool // the table may lack it
	nullable    bool // it must take nulls
	either      bool // it may take nulls or not
	written     bool // by marks
	column      *render.ColumnName
}

// rolesOf lists the columns that an inbox uses, in the order of a managed inbox's, with the places in the map that they are noted at.
func rolesOf(i *spec.Inbox, c *render.Columns) []role {
	names := spec.DefaultColumns()
	if i.Columns != nil {
		names = *i.Columns
	}
	return []role{
		{field: "id", name: names.ID, types: idTypes, column: &c.ID},
		{field: "event_type", name: names.EventType, types: idTypes, column: &c.EventType},
		{field: "source", name: names.Source, types: idTypes, optional: true, either: true, column: &c.Source},
		{field: "aggregate_id", name: names.AggregateID, types: idTypes, optional: true, either: true, column: &c.AggregateID},
		{field: "payload", name: names.Payload, types: payloadTypes, either: true, column: &c.Payload},
		{field: "received_at", name: names.ReceivedAt, types: timeTypes, column: &c.ReceivedAt},
		{field: "processed_at", name: names.ProcessedAt, types: timeTypes, nullable: true, written: true, column: &c.ProcessedAt},
		{field: "error", name: names.Error, types: textTypes, nullable: true, written: true, column: &c.Error},
		{field: "retry_count", name: names.RetryCount, types: countTypes, written: true, column: &c.RetryCount},
		{field: "trace_id", name: names.TraceID, types: idTypes, optional: true, either: true, column: &c.TraceID},
		{field: "available_at", name: names.AvailableAt, types: timeTypes, optional: true, nullable: true, written: true, column: &c.AvailableAt},
	}
}

// adopts reports whether an inbox is over a table of the user's.
func adopts(s *spec.Spec) bool {
	return slices.ContainsFunc(s.Inboxes, func(i spec.Inbox) bool { return !i.Managed() })
}

// checkOwnTables checks the tables of users that inboxes are over.
func (c *compiler) checkOwnTables() {
	for n := range c.spec.Inboxes {
		if i := &c.spec.Inboxes[n]; !i.Managed() && i.Relation.Name != "" {
			c.ownTable(i)
		}
	}
}

// ownTable finds the table of an inbox, and its columns; nil if it does not fit.
func (c *compiler) ownTable(i *spec.Inbox) (*catalog.Relation, render.Columns, []render.Shape) {
	var columns render.Columns
	at := i.Field("table")
	r := c.known.Relation(i.Relation.Schema, i.Relation.Name)
	if r == nil {
		c.errs.Add(unknownTable(at, i, c.known, len(c.spec.DDL) > 0))
		return nil, columns, nil
	}
	if why := unfit(r); why != "" {
		c.errs.Add(unfitTable(at, i, r, why))
		return nil, columns, nil
	}
	var shapes []render.Shape
	for _, role := range rolesOf(i, &columns) {
		if shape, ok := c.ownColumn(i, r, role); ok {
			*role.column = shape.Name
			shapes = append(shapes, shape)
		}
	}
	if id := r.Column(string(columns.ID)); id >= 0 && !identifies(r, id) {
		c.errs.Add(notUnique(columnPos(i, "id"), i, r, id))
	}
	return r, columns, shapes
}

// unfit says why a relation cannot be the table of an inbox; empty if it can.
func unfit(r *catalog.Relation) string {
	switch {
	case r.Kind != catalog.Table:
		return "it is a " + r.Kind.String()
	case r.PartOfOthers():
		return "its rows are written through another table, too, whose statements fire no trigger of its own"
	case r.ReadsOthers():
		return "other tables inherit from it, to which its keys do not extend"
	case r.Unlogged:
		return "it is unlogged, so that a crash empties it and no trigger sees that"
	}
	return ""
}

// identifies reports whether a column alone identifies rows.
func identifies(r *catalog.Relation, column int) bool {
	is := func(key []int) bool { return slices.Equal(key, []int{column}) }
	return is(r.Key) || slices.ContainsFunc(r.Uniques, is)
}

// ownColumn finds a column of a user's table; not ok if it is not there, or does not fit.
func (c *compiler) ownColumn(i *spec.Inbox, r *catalog.Relation, role role) (render.Shape, bool) {
	at := columnPos(i, role.field)
	given := i.Columns != nil && i.Columns.Given(role.field)
	n := r.Column(role.name)
	if n < 0 {
		if role.name != "" && (given || !role.optional) {
			c.errs.Add(noOwnColumn(at, role, r))
		}
		return render.Shape{}, false
	}
	column := r.Columns[n]
	base, _, _ := strings.Cut(column.Type, "(")
	switch fits := slices.Contains(role.types, base) && !(role.written && base != column.Type); {
	case !fits && role.optional && !given:
		return render.Shape{}, false
	case !fits:
		c.errs.Add(wrongType(at, role, r, column))
	case role.written && column.Generated:
		c.errs.Add(generatedColumn(at, role, r, column))
	case role.nullable && column.NotNull:
		c.errs.Add(neverNull(at, role, r, column))
	case !role.nullable && !role.either && !column.NotNull:
		c.errs.Add(mayBeNull(at, role, r, column))
	default:
		return render.Shape{
			Name: render.ColumnName(column.Name), Type: column.Type, Collation: collationOf(column), Nullable: role.nullable, Either: role.either,
		}, true
	}
	return render.Shape{}, false
}

func collationOf(c catalog.Column) string {
	if c.Collation == `"C"` {
		return `pg_catalog."C"`
	}
	return c.Collation
}

// columnPos is where a column's name stands, or the table's.
func columnPos(i *spec.Inbox, field string) diag.Pos {
	if i.Columns != nil && i.Columns.Given(field) {
		return i.Columns.Field(field)
	}
	return i.Field("table")
}

// adopt completes the view model of an inbox over a table of the user's.
func (c *compiler) adopt(v *render.Inbox, i *spec.Inbox) {
	r, columns, shapes := c.ownTable(i)
	internal := func(suffix string) render.Name {
		return schemasOf(c.spec).InInternal(spec.DerivedName(i.Name + suffix))
	}
	// What stands on the table is named by the table, and so keeps its name when the inbox is renamed.
	beside := func(what string) render.Name {
		return render.Name{Schema: r.Schema, Name: spec.DerivedName(c.spec.Extension.Name + "_" + what + "_" + r.Name)}
	}
	own := &render.OwnTable{Shapes: shapes, AttachFn: internal("_attach"), DetachFn: internal("_detach"), Triggers: map[string]string{}}
	for _, event := range render.TriggerEvents {
		own.Triggers[event] = spec.DerivedName(fmt.Sprintf("%s_%s_%s_%s", c.spec.Extension.Name, event, r.Schema, r.Name))
	}
	v.Own, v.Columns, v.Table, v.Rows = own, columns, nameOf(r), internal("_rows")
	v.ChangedFn, v.RowChangedFn = internal("_changed"), internal("_row_changed")
	v.OrderIndex = beside("order")
	if v.IDKey() != v.Columns.ID.String() {
		own.IDIndex = beside("id")
	}
	if v.Notify != nil {
		v.Notify.Table, v.Notify.Trigger = v.Table, own.Triggers["notify"]
	}
	v.ProcessedRetention, v.DeadRetention = spec.Duration(0).Interval(), spec.Duration(0).Interval() // rows of users are never deleted
}

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
		Hint: "an inbox needs an ordinary table, all of whose rows are written by its own name", Also: []diag.Note{{Pos: r.At, Message: "it stands here"}},
	}
}

func noOwnColumn(at diag.Pos, role role, r *catalog.Relation) diag.Error {
	hint := fmt.Sprintf("name the one that it has in columns: {%s: …}", role.field)
	if near := diag.Nearest(role.name, r.ColumnNames()); near != "" {
		hint = fmt.Sprintf("did you mean %q? Write columns: {%s: %s}", near, role.field, near)
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
	limited := ""
	if role.written && role.field == "error" {
		limited = ", without a limit"
	}
	return unlike(at, r, column, "wrong-type", fmt.Sprintf("is of type %s, and %s of an inbox is of type %s%s", column.Type, role.field, types, limited),
		fmt.Sprintf("name another one in columns: {%s: …}; Sluice never alters your table", role.field))
}

func generatedColumn(at diag.Pos, role role, r *catalog.Relation, column catalog.Column) diag.Error {
	return unlike(at, r, column, "wrong-type", fmt.Sprintf("is generated, and marks write %s", role.field), fmt.Sprintf("name another one in columns: {%s: …}", role.field))
}

func neverNull(at diag.Pos, role role, r *catalog.Relation, column catalog.Column) diag.Error {
	return unlike(at, r, column, "not-null", fmt.Sprintf("is not null, and null says that a message has no %s", role.field), "alter it: drop not null; Sluice never alters your table")
}

func mayBeNull(at diag.Pos, role role, r *catalog.Relation, column catalog.Column) diag.Error {
	return unlike(at, r, column, "nullable", fmt.Sprintf("may be null, and each message has %s", role.field), "alter it: set not null; Sluice never alters your table")
}

func notUnique(at diag.Pos, i *spec.Inbox, r *catalog.Relation, id int) diag.Error {
	hint := "add a unique constraint on it alone, or name the column that has one in columns: {id: …}"
	if len(r.Key) > 1 && slices.Contains(r.Key, id) {
		hint = "an id is one column; the key of the table has several: add a column that identifies a message, such as a unique generated one"
	}
	return unlike(at, r, r.Columns[id], "not-unique", fmt.Sprintf("is not unique by itself, so that inbox %q would store messages twice", i.Name), hint)
}
