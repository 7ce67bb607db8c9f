package sqltext

import "strings"

// Mark ends the comments of what an extension makes: by it the extension knows its own, in a restored database, too. One name may be that of several extensions, each
// in a schema of its own.
func Mark(extension, schema string) string { return "(Sluice: " + extension + " in " + schema + ")" }

// Marked is a comment with a mark at its end.
func Marked(comment, mark string) string { return strings.TrimLeft(comment+" "+mark, " ") }
