package ops

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
)

// pipeline is one that relay.yaml begins with: from a consumer group to a webhook, or from a webhook to an inbox.
type pipeline struct{ Name, Outbox, Group, Inbox string }

// pipelines are those of the spec's consumer groups, or of its first inbox whose messages need nothing else than an event has.
func pipelines(v view) []pipeline {
	var all []pipeline
	for _, g := range v.Groups {
		all = append(all, pipeline{Name: literal(g.Name), Outbox: literal(g.Outbox), Group: literal(g.Name)})
	}
	simple := slices.IndexFunc(v.Inboxes, func(i render.Inbox) bool {
		return i.Ordering == nil && i.Priority == nil && i.Tenant == nil && i.WireFormat == ""
	})
	if len(all) == 0 && simple >= 0 {
		all = []pipeline{{Name: literal(v.Inboxes[simple].Name), Inbox: literal(v.Inboxes[simple].Name)}}
	}
	return all
}

// literal is a name in relay.yaml, where a dollar sign begins a reference.
func literal(name string) string { return strings.ReplaceAll(name, "$", "$$") }
