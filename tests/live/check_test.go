package live

import (
	"fmt"
	"testing"

	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// TestPlpgsqlCheck has zero findings over all that is generated, with every option on and off.
func TestPlpgsqlCheck(t *testing.T) {
	specs := map[string]string{
		"nothing": "inboxes: []",
		"alone":   "inboxes: [{name: a}]",
		"shop":    "inboxes: [{name: a, retry: {}}, {name: b}]",
		"bare":    "inboxes: [{name: a, dead_letter: false, stats: false, retention: {processed: 0s, dead_letter: 0s}}]",
		"ids":     "inboxes: [{name: a, event_id: payload->>'id', retry: {backoff: linear}}]",
		"slow":    "inboxes: [{name: a, schedule: 5m, max_retries: 1, retry: {backoff: constant, initial: 2h}, retention: {processed: 7d, dead_letter: 30d}}]",
		"moved":   "inboxes: [{name: a, schema: other}, {name: b, schema: third, event_id: md5(payload::text)}]",
		"events":  "outboxes: [{name: a}]\nconsumer_groups: [{name: g, outbox: a}]",
		"ordered": "outboxes: [{name: a, ordering_key: event_type, retention: 0s}, {name: b, idle_group: {after: 9d, policy: archive}}]\ninboxes: [{name: c}]",
		"set":     "settings: {inbox_enabled: off, inbox_drain_batch_size: 1, inbox_processed_retention_hours: 2000000000}\ninboxes: [{name: a}]",
	}
	for name, inboxes := range specs {
		t.Run(name, func(t *testing.T) {
			extension := installed.Text(t, fmt.Sprintf("version: 1\nextension: {name: %s, version: 1.0.0}\n%s\n", name, inboxes))
			db := installed.DB(t, extension)
			pgtest.CheckPlpgsql(t, db, "pgtrickle")
			for range 3 {
				db.Exec(t, "call pgtrickle.tick()")
			}
			db.Exec(t, extension.Uninstall())
		})
	}
}
