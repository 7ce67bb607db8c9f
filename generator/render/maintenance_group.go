package render

import (
	"strings"
)

// MaintenanceGroup is a set of stream tables in immediate mode that follow the same tables. The triggers of a table maintain all of them.
type MaintenanceGroup struct {
	Schemas
	Members   []StreamTable // what reads another comes after it
	Captures  []Capture
	State     Name
	PendingFn Name
	Turn      Name // the sequence that tells which turns its writers take; none where they never do
}

// Direct are the members that otherwise follow each statement by themselves.
func (f MaintenanceGroup) Direct() []StreamTable {
	var direct []StreamTable
	for _, t := range f.Members {
		if t.Direct && len(t.Pending) > 0 {
			direct = append(direct, t)
		}
	}
	return direct
}

// List names the members for people.
func (f MaintenanceGroup) List() string {
	var names []string
	for _, t := range f.Members {
		names = append(names, t.ID())
	}
	return strings.Join(names, ", ")
}
