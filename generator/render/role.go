package render

import "slices"

// Roles are the group roles that get rights on one inbox or outbox, by name; empty where there is none.
type Roles struct{ Producer, Consumer, Monitor string }

// Role is a group role as producer, consumer or monitor: of everything, or of some inboxes and outboxes.
type Role struct {
	Extension
	Role, Kind   string
	Of           string   // which inboxes and outboxes, as text; empty for everything
	Schemas      []string // that it may use
	Inboxes      []Inbox  // these and the following stand before those of the extension
	Outboxes     []Outbox
	StreamTables []StreamTable
}

// EventOutboxes are those of its outboxes that applications publish to.
func (r Role) EventOutboxes() []Outbox {
	return slices.DeleteFunc(slices.Clone(r.Outboxes), Outbox.Made)
}

// HasInboxes reports whether it has rights on inboxes: on all it has, functions may create others.
func (r Role) HasInboxes() bool { return len(r.Inboxes) > 0 || r.Of == "" && r.FromSQL != nil }

// HasStreamTables is the same for stream tables.
func (r Role) HasStreamTables() bool {
	return len(r.StreamTables) > 0 || r.Of == "" && r.FromSQLTable != nil
}

// Ordered are those of its inboxes whose messages have an order.
func (r Role) Ordered() []Inbox {
	return slices.DeleteFunc(slices.Clone(r.Inboxes), func(i Inbox) bool { return i.Ordering == nil })
}

// Given lists the columns that a producer may give a value. The others, such as received_at, processed_at and retry_count, have their defaults.
func (i Inbox) Given() string {
	if i.Any {
		return inserted("list received")
	}
	columns, _ := i.received()
	if i.Tenant != nil {
		columns = append(columns, i.Columns.Tenant)
	}
	if i.Journal != nil && i.Journal.Tag == "" {
		columns = append(columns, "tag")
	}
	names := make([]string, len(columns))
	for n, column := range columns {
		names[n] = column.String()
	}
	return wrappedAt(names, widestLine, "    ")
}

// Right is a row of pgt_rights: what a role is to an inbox or outbox, or to all.
type Right struct {
	Schemas
	Of, Name, Kind, Role string
}

// Policies say which rows of a table that inboxes or outboxes share roles may see and write.
type Policies struct {
	Schemas
	Table    Name
	Rows     string // what a row is known by: inbox, outbox, task, group_no or group_name
	List     []Policy
	OfTenant string // the condition that a row is of the session's tenant; empty if the table tells of no message
}

// Policy is what roles of some kinds may do: select, insert or all that they are granted.
type Policy struct {
	Name, For string
	Kinds     []string
	Unless    string // a condition on the current role under which it has no rows by this; empty for none
}

// OwnRoles reports whether an inbox has roles of its own.
func (e Extension) OwnRoles() bool {
	return slices.ContainsFunc(e.Inboxes, func(i Inbox) bool { return i.Roles != Roles{} })
}

// OwnReaders reports whether an outbox has a consumer or a monitor of its own. Then the views that outboxes share show each reader its own.
func (e Extension) OwnReaders() bool {
	return slices.ContainsFunc(e.Outboxes, func(o Outbox) bool { return o.Roles.Consumer+o.Roles.Monitor != "" })
}

// OwnRights reports whether tables that inboxes or outboxes share have policies.
func (e Extension) OwnRights() bool { return e.OwnRoles() || e.OwnReaders() }
