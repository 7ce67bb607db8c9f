package objects

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// The sections of a script, in its order: a reviewer can stop after the one that a spec changed.
const (
	sharedSection      = "Shared: the same for all objects of a kind"
	sourceSection      = "Sources"
	streamTableSection = "Stream tables"
	inboxSection       = "Inboxes"
	outboxSection      = "Outboxes"
	roleSection        = "Roles"
)

var sections = []string{sharedSection, sourceSection, streamTableSection, inboxSection, outboxSection, roleSection}

// sectionOf returns the section of an object by the data of its template.
func sectionOf(data any) string {
	switch data.(type) {
	case render.Source, render.Capture, render.Read, render.Need:
		return sourceSection
	case render.StreamTable, render.MaintenanceGroup:
		return streamTableSection
	case render.Inbox, render.OwnTrigger, render.Tier, render.Level:
		return inboxSection
	case render.Outbox:
		return outboxSection
	case render.Role, render.Right, render.Policies:
		return roleSection
	}
	return sharedSection
}

// within puts an object into a section other than that of its data.
func within(section string) option { return func(o *upgrade.Object) { o.Section = section } }

// inSections sorts objects by section and keeps their order within a section. It notes which earlier objects each one mentions.
func inSections(objects []upgrade.Object) []upgrade.Object {
	slices.SortStableFunc(objects, func(a, b upgrade.Object) int {
		return cmp.Compare(slices.Index(sections, a.Section), slices.Index(sections, b.Section))
	})
	var before names
	for n := range objects {
		o := &objects[n]
		o.Needs = before.in(o.SQL)
		if name, _, _ := strings.Cut(o.Signature, "("); o.Kind != "row" && o.Kind != "grant" && o.Kind != upgrade.Policy {
			before.add(o.ID(), name)
		}
	}
	return objects
}
