package render

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Extension is what templates know of the whole.
type Extension struct {
	Schemas
	Extension string // the extension's name
	Version   string
	Every     time.Duration // between two ticks
	Inboxes   []Inbox
	FromSQL   *Inbox        // stands for inboxes that functions create at run time; nil if none do
	Tracked   *Inbox        // the same for those over tables of users
	Kinds     []CreatedKind // all kinds of those
	Outboxes  []Outbox
	Groups    []Group
	Settings  []Setting

	KeepsWires bool // the release before had an inbox with a wire format, and there may be documents in quarantine

	Plan
}

// Plan is what stream tables come to.
type Plan struct {
	StreamTables      []StreamTable      // what reads another comes after it
	RefreshGroups     [][]StreamTable    // the same, those together that are refreshed from one snapshot
	Sources           []Source           // whose changes are logged
	Captures          []Capture          // that stream tables in immediate mode read
	MaintenanceGroups []MaintenanceGroup // of stream tables in immediate mode
	Reads             []Read             // all relations that stream tables read
	FromSQLTable      *StreamTable       // stands for stream tables that functions create at run time; nil if none do
}

// Setting is a setting with the value that the spec gives it.
type Setting struct {
	Name, Value string
	Module      string // that reads it
	Default     string // where the spec gives none
	About       string
	Switch      bool // on or off, rather than a number
	Positive    bool // zero is no number for it
	Guarded     bool // it decides what is deleted, and is therefore never read from a session
}

// Standard is the extension under the names that the files of the runtime have in all repositories.
func (e Extension) Standard() Extension {
	e.Extension, e.Schemas = "pgtrickle", Schemas{"pgtrickle", "pgtrickle_internal"}
	return e
}

// GroupLock is the first key of the advisory locks of consumer groups, whose numbers are the second.
func (e Extension) GroupLock() string { return LockKey("sluice consumer groups " + e.SchemaName) }

// TurnLock is the first key of the advisory locks of turns, see pgt_take_turn.
func (e Extension) TurnLock() string { return LockKey("sluice turns " + e.SchemaName) }

// LockKey is the first key of advisory locks for a purpose.
func LockKey(purpose string) string {
	digest := md5.Sum([]byte(purpose))
	return fmt.Sprint(int32(binary.BigEndian.Uint32(digest[:4])))
}

// TickEvery is the time between two ticks as an interval's text.
func (e Extension) TickEvery() string {
	if e.Every == time.Second {
		return "1 second"
	}
	return fmt.Sprintf("%d milliseconds", e.Every.Milliseconds())
}

// Subsecond reports that a second between two ticks is too long.
func (e Extension) Subsecond() bool { return e.Every < time.Second }

// InboxNames lists the inboxes in spec order.
func (e Extension) InboxNames() []string {
	names := make([]string, len(e.Inboxes))
	for i, inbox := range e.Inboxes {
		names[i] = inbox.Name
	}
	return names
}

// RuntimeVersion is the version of Sluice that has this text of the runtime.
const RuntimeVersion = "0.1.0"

// RuntimeVersion is the constant, for templates.
func (e Extension) RuntimeVersion() string { return RuntimeVersion }

// Modules lists the modules of the runtime that are installed, but for core, which always is.
func (e Extension) Modules() (modules []string) {
	for _, m := range []struct {
		name string
		used bool
	}{
		{"inbox", e.HasInboxes()}, {"wire", e.HasWires()}, {"outbox", len(e.Outboxes) > 0}, {"stream", e.HasStreamTables()}, {"imperative", e.FromSQL != nil || e.FromSQLTable != nil},
	} {
		if m.used {
			modules = append(modules, m.name)
		}
	}
	return modules
}

// SettingsInForce lists the settings that something installed reads.
func (e Extension) SettingsInForce() []Setting {
	modules := e.Modules()
	return slices.DeleteFunc(slices.Clone(e.Settings), func(s Setting) bool { return !slices.Contains(modules, s.Module) })
}

// SpecRow is a row of pgt_spec.
type SpecRow struct {
	Schemas
	Name, Value string
}

// SpecRows are what the spec says of the whole.
func (e Extension) SpecRows() []SpecRow {
	rows := []SpecRow{{e.Schemas, "modules", "{" + strings.Join(e.Modules(), ",") + "}"}, {e.Schemas, "schedule", e.TickEvery()}}
	if e.OwnReaders() {
		rows = append(rows, SpecRow{e.Schemas, "own_readers", "true"})
	}
	if e.HasStreamTables() {
		rows = append(rows, SpecRow{e.Schemas, "search_path", e.SearchPath()})
	}
	for _, s := range e.Settings {
		if s.Value != s.Default {
			rows = append(rows, SpecRow{e.Schemas, s.Name, s.Value})
		}
	}
	return rows
}

// Wired lists the inboxes that decode documents of a wire format.
func (e Extension) Wired() []Inbox {
	return slices.DeleteFunc(slices.Clone(e.Inboxes), func(i Inbox) bool { return i.WireFormat == "" })
}

// HasWires reports whether the extension has the module that decodes documents.
func (e Extension) HasWires() bool { return e.KeepsWires || len(e.Wired()) > 0 }

// Tenants lists the inboxes that keep messages of tenants apart.
func (e Extension) Tenants() []Inbox {
	return slices.DeleteFunc(slices.Clone(e.Inboxes), func(i Inbox) bool { return i.Tenant == nil })
}

// Schema is a schema that the extension makes where it is missing.
type Schema struct{ Extension, Name string }

// Mark is the comment by which uninstall recognises a schema that it may drop.
func (s Schema) Mark() string { return "Made by Sluice extension " + s.Extension + "." }

// Task is a row of pgt_tasks.
type Task struct {
	Schemas
	Task string
}
