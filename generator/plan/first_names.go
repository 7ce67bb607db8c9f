package plan

import (
	"maps"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Versions are compared under first names, so that a rename changes nothing but names.

// original is the spec with the names that everything was released under first, also in queries.
func (l *Lineage) original(s *spec.Spec) *spec.Spec {
	first := *s
	first.Inboxes, first.Outboxes = slices.Clone(s.Inboxes), slices.Clone(s.Outboxes)
	first.ConsumerGroups, first.StreamTables = slices.Clone(s.ConsumerGroups), slices.Clone(s.StreamTables)
	relations := map[spec.Name]spec.Name{}
	for n := range first.Inboxes {
		i := &first.Inboxes[n]
		now := *i
		i.Name = l.first(anInbox, i.Name)
		if i.Managed() {
			i.Relation.Name = i.Name
		}
		if i.Feed != "" {
			i.Feed = l.first(anOutbox, i.Feed)
		}
		relations[now.Relation] = i.Relation
		derived := i.DerivedRelations(s.Extension)
		for at, name := range now.DerivedRelations(s.Extension) {
			relations[name] = derived[at]
		}
	}
	for n := range first.Outboxes {
		first.Outboxes[n].Name = l.first(anOutbox, first.Outboxes[n].Name)
	}
	for n := range first.ConsumerGroups {
		g := &first.ConsumerGroups[n]
		g.Name, g.Outbox = l.first(aGroup, g.Name), l.firstOutbox(s, g.Outbox)
	}
	for n := range first.StreamTables {
		t := &first.StreamTables[n]
		name := l.first(aStreamTable, render.Name(t.Relation).Plain())
		if relation, err := spec.ParseName(name); err == nil && relation != t.Relation {
			relations[t.Relation] = relation
			t.Name, t.Relation = name, relation
		}
	}
	maps.DeleteFunc(relations, func(now, then spec.Name) bool { return now == then })
	if len(relations) == 0 {
		return &first
	}
	for n := range first.StreamTables {
		q := &first.StreamTables[n].Query
		if text := sqltext.RenameTables(q.Text, inQueries(searchPath(s), relations)); text != q.Text {
			q.Block = diag.WholeFile(q.Block.File, text)
		}
	}
	return &first
}

// firstOutbox returns the first name of the outbox that a consumer group reads.
func (l *Lineage) firstOutbox(s *spec.Spec, asked string) string {
	name := outboxOf(s, asked)
	if slices.ContainsFunc(s.Outboxes, func(o spec.Outbox) bool { return o.Name == name }) {
		return l.first(anOutbox, name)
	}
	return l.first(aStreamTable, name)
}

// inQueries looks a name up as queries do.
func inQueries(path []string, relations map[spec.Name]spec.Name) func(schema, name string) (string, string, bool) {
	return func(schema, name string) (string, string, bool) {
		schemas := path
		if schema != "" {
			schemas = []string{schema}
		}
		for _, in := range schemas {
			if first, ok := relations[spec.Name{Schema: in, Name: name}]; ok {
				if schema == "" && slices.Contains(path, first.Schema) {
					return "", first.Name, first.Name != name
				}
				return first.Schema, first.Name, true
			}
		}
		return "", "", false
	}
}

// nameTables adds the stream tables that stand for relations of inboxes: those from an index on, with their first names.
func (l *Lineage) nameTables(from int, now, first []spec.StreamTable) {
	for n := from; n < len(now); n++ {
		named := upgrade.Named{Kind: aStreamTable, Name: render.Name(now[n].Relation).Plain()}
		if was := render.Name(first[n].Relation).Plain(); was != named.Name {
			named.Origin = was
		}
		l.named = append(l.named, named)
	}
}

// values says where names stand in tables of the catalog that no script writes.
func values(s *spec.Spec, n upgrade.Named) []upgrade.Value {
	schemas := schemasOf(s)
	name := sqltext.Literal(n.Name)
	in := func(column string, named func(string) render.Name, tables ...string) []upgrade.Value {
		var all []upgrade.Value
		for _, table := range tables {
			all = append(all, upgrade.Value{Table: named(table).String(), Column: column, Value: name})
		}
		return all
	}
	outbox := slices.Concat(
		in("outbox_name", schemas.InInternal, "pgt_outbox_state"),
		in("outbox_name", schemas.In, "pgt_consumer_groups", "pgt_consumer_dead_letters", "pgt_consumer_claim_check_acks"),
	)
	switch n.Kind {
	case anInbox:
		return append(in("inbox_name", schemas.In, "pgt_inbox_quarantine"), in("inbox_name", schemas.InInternal,
			"pgt_inbox_claims", "pgt_inbox_progress", "pgt_inbox_deltas", "pgt_inbox_duplicates", "pgt_inbox_retry_queue", "pgt_inbox_leases", "pgt_inbox_dead",
			"pgt_inbox_retiring", "pgt_inbox_wakes", "pgt_inbox_sequences")...)
	case anOutbox:
		return outbox
	case aGroup:
		return in("group_name", schemas.In, "pgt_consumer_groups", "pgt_consumer_dead_letters", "pgt_consumer_claim_check_acks")
	default:
		problems := in("problems", schemas.InInternal, "pgt_source_state")
		problems[0].Key = true
		return slices.Concat(in("stream_table", schemas.In, "pgt_refresh_history"), in("source", schemas.InInternal, "pgt_source_state"), problems, outbox)
	}
}
