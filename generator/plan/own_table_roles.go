package plan

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Types that columns of users' tables may have.
var (
	idTypes      = []string{"text", "character varying", "uuid", "bigint", "integer", "smallint"}
	partTypes    = append(slices.Clone(idTypes), "timestamp with time zone", "date") // of columns of an id that has several
	countTypes   = []string{"integer"}
	textTypes    = []string{"text", "character varying"}
	delayTypes   = []string{timestamp}
	timeTypes    = []string{render.LocalTime, timestamp}
	payloadTypes = []string{"jsonb"}
	levelTypes   = []string{"integer", "smallint"}
	orderTypes   = []string{"bigint", "integer", "smallint", render.LocalTime, timestamp}
)

// role is what a column of a user's table is for.
type role struct {
	field, name string
	types       []string
	optional    bool     // the table may lack it, and a column of this name that does not fit is not used
	absent      bool     // the table may lack it; a column of this name has to fit
	nullable    bool     // it must take nulls
	either      bool     // it may take nulls or not
	written     bool     // by marks
	option      string   // that names it; empty for columns
	at          diag.Pos // where a list of columns names it
	listed      bool     // with others
	column      *render.ColumnName
}

// rolesOf lists the columns that an inbox uses, in the order of a managed inbox's, with the places in the map that they are noted at.
func rolesOf(i *spec.Inbox, c *render.Columns) []role {
	names := spec.DefaultColumns()
	if i.Columns != nil {
		names = *i.Columns
	}
	roles := append(idRoles(names.ID, c), []role{
		{field: "event_type", name: names.EventType, types: idTypes, absent: true, either: true, column: &c.EventType},
		{field: "source", name: names.Source, types: idTypes, optional: true, either: true, column: &c.Source},
		{field: "aggregate_id", name: names.AggregateID, types: idTypes, optional: true, either: true, column: &c.AggregateID},
		{field: "payload", name: names.Payload, types: payloadTypes, either: true, column: &c.Payload},
		{field: "received_at", name: names.ReceivedAt, types: timeTypes, column: &c.ReceivedAt},
		{field: "processed_at", name: names.ProcessedAt, types: timeTypes, nullable: true, written: true, column: &c.ProcessedAt},
		{field: "error", name: names.Error, types: textTypes, nullable: true, written: true, column: &c.Error},
		{field: "retry_count", name: names.RetryCount, types: countTypes, written: true, column: &c.RetryCount},
		{field: "trace_id", name: names.TraceID, types: idTypes, optional: true, either: true, column: &c.TraceID},
		{field: "available_at", name: names.AvailableAt, types: delayTypes, optional: true, nullable: true, written: true, column: &c.AvailableAt},
	}...)
	var key render.ColumnName
	if i.Ordering != nil {
		aggregate, sequence := orderColumns(i)
		roles = append(roles,
			role{field: "aggregate", name: aggregate, types: idTypes, either: true, option: "ordering", column: &key},
			role{field: "sequence", name: sequence, types: orderTypes, either: true, option: "ordering", column: &c.Sequence})
	}
	if p := i.Priority; p != nil {
		decides := role{field: "column", name: string(priorityColumn(i)), types: idTypes, either: true, option: "priority", column: &key}
		if p.Tiers != nil {
			decides.types, decides.column = levelTypes, &c.Priority
		}
		roles = append(roles, decides)
	}
	return roles
}

// what names the role in errors.
func (r role) what() string {
	if r.option == "priority" {
		return "the priority column"
	}
	return r.field
}

// idRoles are the columns that identify a message.
func idRoles(names spec.IDColumns, c *render.Columns) []role {
	switch len(names) {
	case 0: // which is an error already
		return nil
	case 1:
		return []role{{field: "id", name: names[0].Value, types: idTypes, at: names[0].At, column: &c.ID}}
	}
	c.IDs = make([]render.ColumnName, len(names))
	var roles []role
	for n, name := range names {
		roles = append(roles, role{field: "id", name: name.Value, types: partTypes, at: name.At, listed: true, column: &c.IDs[n]})
	}
	return roles
}

// setting is how a spec names a column for the role.
func (r role) setting(name string) string {
	switch {
	case r.listed && name != "…":
		return fmt.Sprintf("columns: {%s: [%s, …]}", r.field, name)
	case r.option != "":
		return fmt.Sprintf("%s: {%s: %s}", r.option, r.field, name)
	}
	return fmt.Sprintf("columns: {%s: %s}", r.field, name)
}

// pos is where a column's name stands, or the table's.
func (r role) pos(i *spec.Inbox) diag.Pos {
	switch {
	case r.at.File != "":
		return r.at
	case r.option == "ordering":
		return i.Ordering.Field(r.field)
	case r.option == "priority":
		return i.Priority.Field(r.field)
	case i.Columns != nil && i.Columns.Given(r.field):
		return i.Columns.Field(r.field)
	}
	return i.Field("table")
}

// ownRoles are the roles as SQL knows them.
func ownRoles(i *spec.Inbox) []render.OwnRole {
	var roles []render.OwnRole
	for _, r := range rolesOf(i, &render.Columns{}) {
		name := r.field
		switch {
		case name == "id":
			id := sqlRole(r, "event_id")
			id.Parts = partTypes
			roles = append(roles, id)
			continue
		case r.option == "priority": // a column of values for a map, or of numbers for tiers
			numbers := r
			numbers.types = levelTypes
			roles = append(roles, sqlRole(r, "mapped"), sqlRole(numbers, "priority"))
			continue
		}
		roles = append(roles, sqlRole(r, name))
	}
	return roles
}

func sqlRole(r role, name string) render.OwnRole {
	return render.OwnRole{
		Name: name, Field: r.field, Types: r.types, Optional: r.optional, Nullable: r.nullable, Either: r.either, Written: r.written, Option: r.option,
	}
}
