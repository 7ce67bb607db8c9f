package plan

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// viewOfOutboxes builds the view models of event outboxes and consumer groups.
func viewOfOutboxes(s *spec.Spec) (outboxes []render.Outbox, groups []render.Group) {
	for n := range s.Outboxes {
		outboxes = append(outboxes, viewOfOutbox(s, &s.Outboxes[n]))
	}
	for _, g := range s.ConsumerGroups {
		group := render.Group{Name: g.Name, Outbox: outboxOf(s, g.Outbox), Reset: g.AutoOffsetReset, MaxAttempts: "null"}
		if g.MaxAttempts != nil {
			group.MaxAttempts = fmt.Sprint(*g.MaxAttempts)
		}
		groups = append(groups, group)
	}
	return outboxes, groups
}

func viewOfOutbox(s *spec.Spec, o *spec.Outbox) render.Outbox {
	in := func(full string) render.Name { return schemasOf(s).In(spec.DerivedName(full)) }
	table := "outbox_" + o.Name
	v := render.Outbox{
		Extension: s.Extension.Name, Schemas: schemasOf(s), Path: "outboxes." + o.Name, Name: o.Name, Event: true,
		Roles:       render.Roles{Producer: o.Roles.Producer, Consumer: o.Roles.Consumer, Monitor: o.Roles.Monitor},
		OrderingKey: o.OrderingKey, IdlePolicy: spec.IdleAlert,
		Table: in(table), IDs: in(table + "_ids"), LaneIndex: in(table + "_lane"), CloudEvents: in(table + "_cloudevents"), Debezium: in(table + "_debezium"),
		Publication: spec.DerivedName(s.Extension.Name + "_" + table), Prefix: spec.FunctionPrefix(table), TickNotifies: true,
	}
	if o.Feed {
		v.Path, v.Feed = "inboxes."+o.Name+".change_feed", true
	}
	if o.Notify {
		v.Notify = &render.Notify{Schemas: schemasOf(s), Table: v.Table, Trigger: "sluice_notify", Channel: render.OutboxChannel, Payload: v.Table.Name}
	}
	if o.OrderingKey != "" {
		v.MarkFn, v.KeyLock = v.OwnFn("mark_key"), keyLock(s, o)
	}
	if o.Retention != nil {
		v.Retention = o.Retention.Interval()
	}
	if o.IdleGroup != nil {
		v.IdleAfter, v.IdlePolicy = o.IdleGroup.After.Interval(), o.IdleGroup.Policy
		if v.IdlePolicy == spec.IdleArchive {
			v.Archive = in(table + "_archive")
		}
	}
	if o.SegmentRows != nil {
		v.SegmentRows, v.SegmentName = fmt.Sprint(*o.SegmentRows), spec.SegmentName(table)
		v.Default, v.SegmentFn, v.RetireFn = in(table+"_default"), v.OwnFn("segment"), v.OwnFn("retire")
	}
	return v
}

// keyLock is the first key of the advisory locks that mark keys of an ordered outbox. pg_locks shows it as an oid, which has no sign.
func keyLock(s *spec.Spec, o *spec.Outbox) string {
	digest := md5.Sum([]byte("sluice keys of outbox " + s.Extension.Schema + " " + o.Name))
	return fmt.Sprint(binary.BigEndian.Uint32(digest[:4]) & math.MaxInt32)
}

// outboxOf is the name in the catalog of the outbox that a consumer group asks for.
func outboxOf(s *spec.Spec, asked string) string {
	if slices.ContainsFunc(s.Outboxes, func(o spec.Outbox) bool { return o.Name == asked }) {
		return asked
	}
	for _, matches := range []func(spec.StreamTable) bool{
		func(t spec.StreamTable) bool { return t.Name == asked },
		func(t spec.StreamTable) bool { return t.Relation.Name == asked },
	} {
		for _, t := range s.StreamTables {
			if t.Outbox != nil && matches(t) {
				return render.Name(t.Relation).Plain()
			}
		}
	}
	return asked
}
