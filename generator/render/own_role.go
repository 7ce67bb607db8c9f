package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// OwnRole is what a column of a user's table may be for.
type OwnRole struct {
	Name, Field string // of a managed inbox's column, and in a spec
	Types       []string
	Parts       []string // that each of several columns may have, if the inbox may name some
	Optional    bool     // the table may lack it
	Nullable    bool     // it has to take nulls
	Either      bool     // it may take nulls or not
	Written     bool     // by marks
	Option      string   // ordering or priority, if that names it
}

// TypeArray is an array of the types that it may have.
func (r OwnRole) TypeArray() string { return texts(r.Types) }

// TypeList names them for people.
func (r OwnRole) TypeList() string { return listOf(r.Types) }

func listOf(types []string) string {
	last := len(types) - 1
	if last == 0 {
		return types[0]
	}
	return strings.Join(types[:last], ", ") + " or " + types[last]
}

// TypeListIn is the list for v_inbox, as SQL.
func (r OwnRole) TypeListIn() string {
	return r.inParts(sqltext.Literal(r.TypeList()), func(types []string) string { return sqltext.Literal(listOf(types)) })
}

// inParts is what holds for v_inbox: for a column, or for each of several.
func (r OwnRole) inParts(one string, several func(types []string) string) string {
	if r.Parts == nil {
		return one
	}
	return "case when v_inbox.id_columns is null then " + one + " else " + several(r.Parts) + " end"
}

// Parameter is that of the function which names the column; empty if its name is always the same.
func (r OwnRole) Parameter() string {
	if r.Option == "priority" {
		return "p_priority_column"
	}
	if slices.Contains([]string{"id", "event_type", "processed_at", "retry_count", "error", "received_at", "aggregate", "sequence"}, r.Field) {
		return "p_" + r.Field + "_column"
	}
	return ""
}

// Named is the column's name by rows of the catalog: of the inbox, of its ordering and of its priority. Null if the inbox has no such column.
func (r OwnRole) Named(inbox, ordering, priority string) string {
	switch {
	case r.Option == "ordering":
		return ordering + "." + r.Field + "_column"
	case r.Name == "mapped":
		return fmt.Sprintf("case when %[1]s.tiers is null then %[1]s.priority_column end", priority)
	case r.Name == "priority":
		return fmt.Sprintf("case when %[1]s.tiers is not null then %[1]s.priority_column end", priority)
	case r.Parameter() != "":
		return inbox + "." + r.Field + "_column"
	case r.Name == "available_at":
		return "case when " + inbox + ".has_delay then 'available_at' end"
	}
	return "'" + r.Name + "'"
}

// TypesIn is an array of the types that the column may have in an inbox with an order: of a sequence those of its mode.
func (r OwnRole) TypesIn(ordering string) string {
	if r.Name != "sequence" {
		return r.inParts(r.TypeArray(), texts)
	}
	times := slices.IndexFunc(r.Types, func(typ string) bool { return strings.HasPrefix(typ, "timestamp") })
	return "case when " + ordering + ".mode = 'monotonic' then " + texts(r.Types[times:]) + " else " + texts(r.Types[:times]) + " end"
}

// Nulls says whether the column has to take nulls, for pgt_require_table. A sequence of timestamps must not be null.
func (r OwnRole) Nulls(ordering string) string {
	switch {
	case r.Name == "sequence":
		return "case when " + ordering + ".mode = 'monotonic' then false end"
	case r.Either:
		return "null"
	}
	return strconv.FormatBool(r.Nullable)
}

// Roles are those of columns of tables that functions put inboxes over: of inboxes of each kind.
func (e Extension) Roles() (roles []OwnRole) {
	for _, kind := range e.Kinds {
		for _, role := range kind.roles() {
			if !slices.ContainsFunc(roles, func(r OwnRole) bool { return r.Name == role.Name }) {
				roles = append(roles, role)
			}
		}
	}
	return roles
}

func (k CreatedKind) roles() []OwnRole {
	if k.Own == nil {
		return nil
	}
	return k.Own.Roles
}
