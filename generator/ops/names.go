package ops

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// view is what all templates know.
type view struct {
	render.Extension
	HasTables, HasInboxes, HasOutboxes bool
	Of                                 string // the matcher of the extension's series
	Label                              string // the extension's name as Kubernetes and systemd take it
}

func newView(e render.Extension) view {
	return view{
		Extension:  e,
		HasTables:  len(e.StreamTables) > 0 || e.FromSQLTable != nil,
		HasInboxes: len(e.Inboxes) > 0 || e.FromSQL != nil, HasOutboxes: len(e.Outboxes) > 0,
		Of:    fmt.Sprintf("extension=%q", e.Extension),
		Label: label(e.Extension),
	}
}

// label is a name as part of one in DNS: lower case, digits and hyphens, and short enough for what is put around it.
func label(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	return strings.Trim(name[:min(len(name), 40)], "-")
}

// Inbox is an inbox that a page can name, as SQL.
func (v view) Inbox() string {
	if len(v.Inboxes) == 0 {
		return sqltext.Literal("name")
	}
	return sqltext.Literal(v.Inboxes[0].Name)
}

// WiredInbox is one that decodes documents.
func (v view) WiredInbox() string { return sqltext.Literal(v.Wired()[0].Name) }

// StreamTable is a stream table that a page can name, as SQL.
func (v view) StreamTable() string {
	if len(v.StreamTables) == 0 {
		return sqltext.Literal("public.name")
	}
	return sqltext.Literal(v.StreamTables[0].Table.Plain())
}

// Group is a consumer group that a page can name, as SQL.
func (v view) Group() string {
	if len(v.Groups) == 0 {
		return sqltext.Literal("name")
	}
	return sqltext.Literal(v.Groups[0].Name)
}

// ShellSchema is the extension's schema as a word of a shell.
func (v view) ShellSchema() string {
	return "'" + strings.ReplaceAll(v.SchemaName, "'", `'\''`) + "'"
}
