package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// An id of several columns is the text of each, joined by slashes, as in acme/17. In texts a slash is written ~1, and a tilde ~0, as JSON pointers do: so
// each id is that of one message.

// idNames are the names of its columns in Rows.
func (c Columns) idNames() []string {
	if c.IDs == nil {
		return []string{"id"}
	}
	names := make([]string, len(c.IDs))
	for n := range c.IDs {
		names[n] = fmt.Sprintf("id_%d", n+1)
	}
	return names
}

// joinedID is the id of row a of a table that has it in several columns.
func (i Inbox) joinedID(a string) string {
	var parts []string
	for _, column := range i.Columns.IDs {
		parts = append(parts, i.idPart(column, of(a, column)))
	}
	return strings.Join(parts, " || '/' || ")
}

// idPart is what a value of a column adds to the id.
func (i Inbox) idPart(column ColumnName, value string) string {
	switch typ := i.Own.TypeOf(column); {
	case typ == "text":
		return fmt.Sprintf("replace(replace(%s collate %s, '~', '~0'), '/', '~1')", value, bytewise)
	case strings.HasPrefix(typ, "character varying"):
		return fmt.Sprintf("replace(replace(%s::text collate %s, '~', '~0'), '/', '~1')", value, bytewise)
	}
	return value + "::text"
}

// SplitID are the columns of an id that is given, as an array of texts.
func (i Inbox) SplitID(id string) string {
	var names []string
	for _, column := range i.Columns.IDs {
		names = append(names, string(column))
	}
	return fmt.Sprintf("%s.pgt_split_id(%s, %s, %s)", i.Internal(), sqltext.Literal(i.Name), id+"::text", texts(names))
}

// joinedAgain is an id that is given, as the columns spell it.
func (i Inbox) joinedAgain(id string) string {
	var parts []string
	for n, column := range i.Columns.IDs {
		parts = append(parts, i.idPart(column, fmt.Sprintf("(s.id[%d])%s", n+1, i.cast(column))))
	}
	return fmt.Sprintf("(select %s from (select %s as id) s)", strings.Join(parts, " || '/' || "), i.SplitID(id))
}

// Conflict lists the columns of the key that keeps a message from being stored twice.
func (i Inbox) Conflict() string {
	if i.Any {
		return i.Columns.ID.String()
	}
	var names []string
	for _, column := range i.Columns.IDColumns() {
		names = append(names, column.String())
	}
	return strings.Join(names, ", ")
}

// SplitIDs reports whether ids of an inbox have several columns.
func (e Extension) SplitIDs() bool {
	return slices.ContainsFunc(e.Inboxes, func(i Inbox) bool { return i.Columns.IDs != nil })
}

// IDArray is an array of the names of the columns; null if there is one.
func (i Inbox) IDArray() string {
	if i.Columns.IDs == nil {
		return "null"
	}
	var names []string
	for _, column := range i.Columns.IDs {
		names = append(names, string(column))
	}
	return texts(names) + "::name[]"
}
