package render

import "fmt"

// Comments of what is made at run time. A rename brings them up to date.

// LogComment is that of the change log.
func (s Source) LogComment() string {
	return fmt.Sprintf("Signed rows by which %s changed, made by Sluice extension %s.", s.Table, s.Extension)
}

// LogComment is that of the table for what is pending.
func (c Capture) LogComment() string {
	return fmt.Sprintf("Changes of %s within a transaction, made by Sluice extension %s.", c.Table, c.Extension)
}

// Comment is that of what users see.
func (t StreamTable) Comment() string {
	return StreamTableComment(t.Extension) + "\n" + t.Query
}

// StreamTableComment is what the comment of an extension's stream tables begins with.
func StreamTableComment(extension string) string {
	return fmt.Sprintf("Stream table of Sluice extension %s:", extension)
}

// RowsComment is that of the table below it.
func (t StreamTable) RowsComment() string {
	return fmt.Sprintf("What stream table %s stores, made by Sluice extension %s.", t.Table, t.Extension)
}

// ShapeComment is that of the table whose rows it has as values.
func (t StreamTable) ShapeComment() string {
	return fmt.Sprintf("The columns of stream table %s, made by Sluice extension %s.", t.Table, t.Extension)
}

// Comment is that of a stream table's outbox.
func (o Outbox) Comment() string {
	return fmt.Sprintf("Outbox of %s: a row for each refresh that changed it, made by Sluice extension %s.", o.Shown, o.Extension)
}

// DeltaRowsComment is that of the rows of claim checks.
func (o Outbox) DeltaRowsComment() string {
	return fmt.Sprintf("The rows of claim checks of %s, what went before what came; made by Sluice extension %s.", o.Table, o.Extension)
}

// LatestComment is that of the view on the newest row.
func (o Outbox) LatestComment() string {
	return fmt.Sprintf("The newest row of %s, made by Sluice extension %s.", o.Table, o.Extension)
}

// PendingComment is that of what a statement has changed so far.
func (o Outbox) PendingComment() string {
	return fmt.Sprintf("What a statement has changed of %s so far, for its outbox; made by Sluice extension %s.", o.Shown, o.Extension)
}
