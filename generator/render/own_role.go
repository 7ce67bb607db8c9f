package render

import (
	"slices"
	"strings"
)

// OwnRole is what a column of a user's table may be for.
type OwnRole struct {
	Name, Field string // of a managed inbox's column, and in a spec
	Types       []string
	Optional    bool // the table may lack it
	Nullable    bool // it has to take nulls
	Either      bool // it may take nulls or not
	Written     bool // by marks
}

// TypeArray is an array of the types that it may have.
func (r OwnRole) TypeArray() string { return texts(r.Types) }

// TypeList names them for people.
func (r OwnRole) TypeList() string {
	last := len(r.Types) - 1
	if last == 0 {
		return r.Types[0]
	}
	return strings.Join(r.Types[:last], ", ") + " or " + r.Types[last]
}

// Parameter is that of enable_inbox_tracking which names the column; empty if its name is always the same.
func (r OwnRole) Parameter() string {
	if slices.Contains([]string{"id", "event_type", "processed_at", "retry_count", "error", "received_at"}, r.Field) {
		return "p_" + r.Field + "_column"
	}
	return ""
}
