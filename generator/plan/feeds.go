package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// withFeeds returns the spec with an outbox for each inbox that has a change feed. A feed that was released is renamed with its inbox.
func withFeeds(s *spec.Spec, released []upgrade.Manifest) *spec.Spec {
	whole := *s
	whole.Inboxes, whole.Outboxes = slices.Clone(s.Inboxes), slices.Clone(s.Outboxes)
	for n := range whole.Inboxes {
		i := &whole.Inboxes[n]
		if !i.ChangeFeed {
			continue
		}
		i.Feed = i.Name
		feed := spec.Outbox{Place: i.Place, Name: i.Name, Feed: true}
		if slices.ContainsFunc(released, func(m upgrade.Manifest) bool {
			_, ok := m.Find(anOutbox, i.RenamedFrom)
			return ok
		}) {
			feed.RenamedFrom = i.RenamedFrom
		}
		whole.Outboxes = append(whole.Outboxes, feed)
	}
	return &whole
}
