package render

import (
	"fmt"
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
	case typ == "date":
		return "extract(epoch from " + value + ")::text"
	case i.isTime(column):
		return "extract(epoch from " + value + " at time zone 'UTC')::text"
	case typ == "text":
		return fmt.Sprintf("replace(replace(%s collate %s, '~', '~0'), '/', '~1')", value, bytewise)
	case strings.HasPrefix(typ, "character varying"):
		return fmt.Sprintf("replace(replace(%s::text collate %s, '~', '~0'), '/', '~1')", value, bytewise)
	}
	return value + "::text"
}

// isTime reports whether a column is a moment, which stands in an id as seconds since 1970: its text depends on settings.
func (i Inbox) isTime(column ColumnName) bool {
	typ := i.Own.TypeOf(column)
	return typ == "timestamp with time zone" || typ == "date"
}

// fromPart is the value of a column of an id that is given in part.
func (i Inbox) fromPart(column ColumnName, part string) string {
	if !i.isTime(column) {
		return part + i.cast(column)
	}
	value := fmt.Sprintf("%s.pgt_id_time(%s)", i.Internal(), part)
	if i.Own.TypeOf(column) == "date" {
		return "(" + value + " at time zone 'UTC')::date"
	}
	return value
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
		parts = append(parts, i.idPart(column, i.fromPart(column, fmt.Sprintf("(s.id[%d])", n+1))))
	}
	return fmt.Sprintf("(select %s from (select %s as id) s)", strings.Join(parts, " || '/' || "), i.SplitID(id))
}

// Conflict lists the columns of the key that keeps a message from being stored twice.
func (i Inbox) Conflict() string {
	if i.Any {
		return inserted("list conflict")
	}
	var names []string
	for _, column := range i.Columns.IDColumns() {
		names = append(names, column.String())
	}
	return strings.Join(names, ", ")
}

// Repeats is the condition that what is given beside an id, with a prefix and suffix, differs from what the id says; empty if the id says nothing more.
func (i Inbox) Repeats(id, prefix, suffix string) string {
	var differ []string
	for n, column := range i.Columns.IDs {
		value := i.fromPart(column, fmt.Sprintf("(%s)[%d]", i.SplitID(id), n+1))
		if column == i.Columns.AggregateID {
			differ = append(differ, fmt.Sprintf("%saggregate_id%s%s <> %s", prefix, suffix, i.cast(column), value))
		}
		if i.Ordering != nil && column == i.Ordering.Sequence {
			differ = append(differ, fmt.Sprintf("%ssequence%s%s <> %s", prefix, suffix, i.cast(column), value))
		}
	}
	return strings.Join(differ, " or ")
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
