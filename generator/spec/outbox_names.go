package spec

import "slices"

// OutboxNames are the relations of a stream table's outbox, all in the extension's schema.
type OutboxNames struct {
	Table, DeltaRows, Latest string
	IDs                      string // the sequence of its ids
	Pending                  string // what a statement has changed so far, in immediate mode
}

// OutboxNames names the outbox of each stream table, whether it has one or may be given one at run time. Tables that the spec gives one come
// first; where a name is taken, as by a table of the same name in another schema, a digest of the stream table's full name ends it.
func (s *Spec) OutboxNames() []OutboxNames {
	taken := s.besideOutboxes()
	names := make([]OutboxNames, len(s.StreamTables))
	for _, asked := range []bool{true, false} {
		for n := range s.StreamTables {
			t := &s.StreamTables[n]
			if (t.Outbox != nil) != asked {
				continue
			}
			names[n] = outboxNames(func(prefix, suffix string) string { return DerivedName(prefix + t.Relation.Name + suffix) })
			if slices.ContainsFunc(names[n].all(), func(name string) bool { return taken[name] }) {
				names[n] = outboxNames(func(prefix, suffix string) string {
					return withDigest(prefix+t.Relation.Name+suffix, prefix+t.Relation.String()+suffix)
				})
			}
			for _, name := range names[n].all() {
				taken[name] = true
			}
		}
	}
	return names
}

func outboxNames(name func(prefix, suffix string) string) OutboxNames {
	return OutboxNames{
		Table: name("outbox_", ""), DeltaRows: name("outbox_delta_rows_", ""), Latest: name("pgt_outbox_latest_", ""),
		IDs: name("outbox_", "_ids"), Pending: name("outbox_pending_", ""),
	}
}

func (n OutboxNames) all() []string {
	return []string{n.Table, n.DeltaRows, n.Latest, n.IDs, n.Pending}
}

// besideOutboxes are the names in the extension's schema that other objects have.
func (s *Spec) besideOutboxes() map[string]bool {
	c := checker{Spec: s}
	taken := map[string]bool{}
	for _, object := range slices.Concat(c.namedTables(), c.namedOutboxes(), c.namedInboxes()) {
		for _, claim := range object.claims {
			if claim.relation.Schema == s.Extension.Schema && !(claim.ofTable && claim.catalog) {
				taken[claim.relation.Name] = true
			}
		}
	}
	events := s.Outboxes
	for _, i := range s.Inboxes {
		if i.ChangeFeed {
			events = append(events[:len(events):len(events)], Outbox{Name: i.Name})
		}
	}
	for _, o := range events {
		for _, suffix := range []string{"_ids", "_lane", "_cloudevents", "_debezium", "_archive"} {
			taken[DerivedName("outbox_"+o.Name+suffix)] = true
		}
		if o.SegmentRows != nil {
			taken[DerivedName("outbox_"+o.Name+"_default")] = true
		}
	}
	return taken
}
