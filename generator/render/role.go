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

// Ordered are those of its inboxes whose messages have an order.
func (r Role) Ordered() []Inbox {
	return slices.DeleteFunc(slices.Clone(r.Inboxes), func(i Inbox) bool { return i.Ordering == nil })
}

// Policies say which rows of a table that inboxes or outboxes share roles may see and write.
type Policies struct {
	Table Name
	List  []Policy
}

// Policy is the part of a role: for select, insert or all that it is granted, the condition on rows.
type Policy struct{ Name, Role, For, Rows string }

// OwnRoles reports whether an inbox has roles of its own.
func (e Extension) OwnRoles() bool {
	return slices.ContainsFunc(e.Inboxes, func(i Inbox) bool { return i.Roles != Roles{} })
}

// OwnReaders reports whether an outbox has a consumer or a monitor of its own. Then the views that outboxes share show each reader its own.
func (e Extension) OwnReaders() bool {
	return slices.ContainsFunc(e.Outboxes, func(o Outbox) bool { return o.Roles.Consumer+o.Roles.Monitor != "" })
}
