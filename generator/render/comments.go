package render

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Comments of what is made at run time, with the mark of the extension. A rename brings them up to date.

// Mark is what comments of everything that the extension makes end in.
func (e Extension) Mark() string { return sqltext.Mark(e.Extension, e.SchemaName) }

// marked is a comment of something that an extension makes.
func marked(extension, schema, format string, args ...any) string {
	return sqltext.Marked(fmt.Sprintf(format, args...), sqltext.Mark(extension, schema))
}

// Comment is that of what users see.
func (t StreamTable) Comment() string {
	return StreamTableComment(t.Extension) + "\n" + t.Query + "\n" + sqltext.Mark(t.Extension, t.SchemaName)
}

// StreamTableComment is what the comment of an extension's stream tables begins with.
func StreamTableComment(extension string) string {
	return fmt.Sprintf("Stream table of Sluice extension %s:", extension)
}

// Comment is that of a stream table's outbox.
func (o Outbox) Comment() string {
	return marked(o.Extension, o.SchemaName, "Outbox of %s: a row for each refresh that changed it.", o.Shown)
}

// DeltaRowsComment is that of the rows of claim checks.
func (o Outbox) DeltaRowsComment() string {
	return marked(o.Extension, o.SchemaName, "The rows of claim checks of %s, what went before what came.", o.Table)
}

// LatestComment is that of the view on the newest row.
func (o Outbox) LatestComment() string {
	return marked(o.Extension, o.SchemaName, "The newest row of %s.", o.Table)
}
