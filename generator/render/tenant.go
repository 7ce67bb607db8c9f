package render

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Tenant keeps the messages of an inbox apart by a column, by row-level security. The column and the sender's id make the id, so that equal ids of two
// tenants are two messages.
type Tenant struct {
	Index    Name     // of pending messages by tenant
	ClaimFn  Name     // claims messages of the session's tenant
	CountFn  Name     // counts their attempts
	Monitors []string // roles that read the numbers of all tenants
}

// SessionTenant is the tenant that a session names.
const SessionTenant = "nullif(current_setting('pg_trickle.tenant', true), '')"

// SessionTenant is the tenant that a session names.
func (Schemas) SessionTenant() string { return SessionTenant }

// Prefix is what the ids of the session's tenant begin with.
func (Schemas) Prefix() string { return "(select " + SessionTenant + " || '/')" }

// Restricted is the condition that the current role, which may read payloads, sees the messages of its tenant only.
func (i Inbox) Restricted() string { return fmt.Sprintf("row_security_active(%s)", i.Table.Regclass()) }

// Arrived is when row a of an inbox with tenants was received, as the index of tenants has it and no other: by its order the planner finds no index
// that mixes tenants.
func (Inbox) Arrived(a string) string {
	return fmt.Sprintf("greatest(%s, '-infinity'::timestamptz)", of(a, "received_at"))
}

// IDOf is what the id of row a is computed from: an expression over its payload, or the tenant and the sender's id.
func (i Inbox) IDOf(a string) string {
	if i.Tenant == nil {
		return i.EventID
	}
	id := of(a, i.Columns.MessageID)
	if i.EventID != "" {
		id = "(" + i.EventID + ")::text"
	}
	return fmt.Sprintf("%s || '/' || %s", of(a, i.Columns.Tenant), id)
}

// SentID is the column of the id that a sender gives.
func (i Inbox) SentID() ColumnName {
	if i.Tenant != nil {
		return i.Columns.MessageID
	}
	return i.Columns.ID
}

// MonitorArray lists its monitors.
func (t Tenant) MonitorArray() string {
	list := ""
	for n, m := range t.Monitors {
		if n > 0 {
			list += ", "
		}
		list += sqltext.Literal(m)
	}
	return "array[" + list + "]::name[]"
}
