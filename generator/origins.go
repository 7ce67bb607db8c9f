package generator

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// What is alike in two versions but for names is found by generating each as if nothing had ever been renamed.

// original is the spec with the names that everything was released under first, also in queries.
func (l *lineage) original(s *spec.Spec) *spec.Spec {
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

// firstOutbox is what a consumer group consumes, by its first name.
func (l *lineage) firstOutbox(s *spec.Spec, asked string) string {
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
func (l *lineage) nameTables(from int, now, first []spec.StreamTable) {
	for n := from; n < len(now); n++ {
		named := upgrade.Named{Kind: aStreamTable, Name: render.Name(now[n].Relation).Plain()}
		if was := render.Name(first[n].Relation).Plain(); was != named.Name {
			named.Origin = was
		}
		l.named = append(l.named, named)
	}
}

// names are what a manifest says of the names.
func (l *lineage) names(schemas render.Schemas) []upgrade.Named {
	all := slices.Clone(l.named)
	for n := range all {
		all[n].Values = values(schemas, all[n])
	}
	return all
}

// follow notes what everything would be if nothing had been renamed.
func (e *Extension) follow(s *spec.Spec, traced *lineage, original *spec.Spec, errs *diag.List) {
	problems := &diag.List{}
	first := build(original, &lineage{}, problems)
	var why string
	if first == nil {
		why = problems.Errors()[0].Message
	} else {
		upgrade.KeepOrder(traced.released, first.Objects)
		if err := e.origins(first); err != nil {
			why = err.Error()
		}
	}
	for n, d := range declarations(s) {
		if name := traced.named[n]; why != "" && name.Origin != "" {
			errs.Add(notRenamed(d.Field("renamed_from"), d, name.Origin, why))
		}
	}
}

// origins notes of each object what it is by first names.
func (e *Extension) origins(original *Extension) error {
	objects := func(e *Extension) []int {
		var places []int
		for n, o := range e.Objects {
			if o.Kind != "schema" {
				places = append(places, n)
			}
		}
		return places
	}
	mine, theirs := objects(e), objects(original)
	if len(mine) != len(theirs) || len(e.made) != len(original.made) {
		return fmt.Errorf("%d objects are %d", len(mine), len(theirs))
	}
	for n, at := range mine {
		o, first := &e.Objects[at], original.Objects[theirs[n]]
		if o.Kind != first.Kind {
			return fmt.Errorf("%s is %s", o.ID(), first.ID())
		}
		o.From(first)
	}
	for n := range e.made {
		m, first := &e.made[n], original.made[n]
		m.Definition = first.Definition
		if m.ID() != first.ID() {
			m.OriginID = first.ID()
		}
	}
	return nil
}

// values says where names stand in tables of the catalog that no script writes.
func values(schemas render.Schemas, n upgrade.Named) []upgrade.Value {
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
		return in("inbox_name", schemas.InInternal,
			"pgt_inbox_paused", "pgt_inbox_progress", "pgt_inbox_deltas", "pgt_inbox_totals", "pgt_inbox_rates", "pgt_inbox_retry_queue", "pgt_inbox_dead")
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
