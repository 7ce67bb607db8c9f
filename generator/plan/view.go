package plan

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// viewOf builds the view model of a spec without its stream tables.
func viewOf(s *spec.Spec, compiled *compiler) render.Extension {
	view := render.Extension{Extension: s.Extension.Name, Version: s.Extension.Version, Schemas: schemasOf(s), Every: tickEvery(s)}
	for n := range s.Inboxes {
		inbox := viewOfInbox(s, &s.Inboxes[n])
		if !s.Inboxes[n].Managed() {
			compiled.adopt(&inbox, &s.Inboxes[n])
		}
		view.Inboxes = append(view.Inboxes, inbox)
	}
	if s.CreatesInboxes() {
		view.Kinds = createdKinds(s)
		view.FromSQL, view.Tracked = &view.Kinds[0].Inbox, &view.Kinds[1].Inbox
	}
	view.Outboxes, view.Groups = viewOfOutboxes(s)
	return view
}

// createdKinds are the kinds of inboxes that functions create, those that hand out messages as they arrive first, and of each those with tables of their own,
// then those over tables of users, then those over partitioned ones.
func createdKinds(s *spec.Spec) (kinds []render.CreatedKind) {
	for _, mode := range []string{"", spec.OrderingMonotonic, spec.OrderingContiguous, render.ByPriority} {
		any := spec.NewInbox(render.AnyInbox, render.AnySchema)
		any.MaxRetries = render.AnyRetries
		inbox := viewOfInbox(s, &any)
		switch mode {
		case "":
		case render.ByPriority:
			any.Priority = spec.NewPriority("~priority_column~")
			priorityOf(s, &any, &inbox)
		default:
			any.Ordering = &spec.Ordering{Aggregate: "~aggregate_column~", Sequence: "~sequence_column~", Start: 1, Mode: mode, OnDeadLetter: spec.DeadLetterBlock}
			inbox.Ordering = orderingOf(s, &any, mode == spec.OrderingMonotonic)
		}
		kinds = append(kinds, render.CreatedKind{Inbox: inbox.StandIn(), Mode: mode})
		for _, partitioned := range []bool{false, true} {
			tracked := inbox.StandInOver(partitioned)
			tracked.Own.Roles = ownRoles(&any)
			kinds = append(kinds, render.CreatedKind{Inbox: tracked, Tracked: true, Mode: mode})
		}
	}
	return kinds
}

// settingsOf are all settings with the values that a spec gives them.
func settingsOf(s *spec.Spec) (settings []render.Setting) {
	for _, def := range spec.SettingDefs {
		settings = append(settings, render.Setting{
			Name: def.Name, Value: s.Settings.Value(def.Name), Module: def.Module, Default: def.Default, About: def.About,
			Switch: def.IsSwitch(), Positive: def.Min > 0, Guarded: def.Guarded,
		})
	}
	return settings
}

func viewOfInbox(s *spec.Spec, i *spec.Inbox) render.Inbox {
	v := render.Inbox{
		Extension:   s.Extension.Name,
		Schemas:     schemasOf(s),
		Path:        "inboxes." + i.Name,
		Name:        i.Name,
		EventID:     expression(i.EventID),
		WireFormat:  wireFormat(i),
		MaxRetries:  i.MaxRetries,
		MaxAttempts: i.MaxAttempts,
		Schedule:    i.Schedule.String(),
		LastDue:     lastDue(i.Schedule, s.Extension.Name, "inboxes."+i.Name, "inbox "+i.Name, lastDueOf(s, i)),
		DueAfter:    dueAfter(i),
		DeadLetter:  i.DeadLetter,
		Stats:       i.Stats,

		Columns: render.ManagedColumns(i.BackOff() != nil),
		Order:   render.Arrival,

		Materialize: i.Materialize,
		Roles:       render.Roles{Producer: i.Roles.Producer, Consumer: i.Roles.Consumer, Monitor: i.Roles.Monitor},

		DegradedAge:     i.Health.DegradedPendingAge.Interval(),
		CriticalAge:     i.Health.CriticalPendingAge.Interval(),
		DegradedSeconds: i.Health.DegradedPendingAge.Seconds(),
		CriticalSeconds: i.Health.CriticalPendingAge.Seconds(),
		DegradedDLQ:     i.Health.DegradedDLQ,

		InboxRelations: inboxRelations(s, i),
		InboxFunctions: inboxFunctions(s, i),
	}
	if i.Ordering != nil {
		v.Ordering = orderingOf(s, i, i.Ordering.Sequence == receivedAt)
		if !v.Ordering.Timestamps {
			v.Columns.Sequence = v.Ordering.Sequence
		}
	}
	if j := i.Journal; j != nil {
		v.Journal = &render.Journal{Tag: expression(j.Tag), Sequence: schemasOf(s).InInternal(spec.DerivedName(i.Name + "_sequence_no"))}
		if j.PayloadIndex {
			v.Journal.PayloadIndex = render.Name{Schema: i.DerivedSchema(s.Extension), Name: spec.DerivedName(i.Name + "_payload")}
		}
		if j.CoveringIndex {
			v.Journal.CoveringIndex = render.Name{Schema: i.DerivedSchema(s.Extension), Name: spec.DerivedName(i.Name + "_journal")}
		}
	}
	if i.Tenant != "" {
		v.Tenant, v.Columns.Tenant, v.Columns.MessageID = tenantOf(s, i), render.ColumnName(i.Tenant), "message_id"
	}
	if i.Notify {
		v.Notify = &render.Notify{Schemas: schemasOf(s), Table: v.Table, Trigger: "sluice_notify", Channel: render.InboxChannel, Payload: i.Name}
	}
	if i.Retention.Processed != nil {
		v.ProcessedRetention = i.Retention.Processed.Interval()
	}
	if i.Retention.DeadLetter != nil {
		v.DeadRetention = i.Retention.DeadLetter.Interval()
	}
	if i.Feed != "" {
		v.Feed = schemasOf(s).In(spec.DerivedName("outbox_" + i.Feed))
	}
	if i.DedupWindow != nil {
		v.Window = i.DedupWindow.Interval()
	}
	if r := i.BackOff(); r != nil {
		v.Retry = &render.Retry{Backoff: r.Backoff, InitialSeconds: r.Initial.Seconds(), MaxSeconds: r.Max.Seconds()}
	}
	if i.Priority != nil && i.Managed() { // else adopt does so, once it knows the table
		priorityOf(s, i, &v)
	}
	return v
}

// wireFormat is the format whose documents an inbox decodes; empty if it decodes none.
func wireFormat(i *spec.Inbox) string {
	if i.WireFormat == spec.WireNative {
		return ""
	}
	return i.WireFormat
}

func inboxRelations(s *spec.Spec, i *spec.Inbox) render.InboxRelations {
	in := func(suffix string) render.Name {
		return render.Name{Schema: i.DerivedSchema(s.Extension), Name: spec.DerivedName(i.Name + suffix)}
	}
	internal := func(suffix string) render.Name { return schemasOf(s).InInternal(spec.DerivedName(i.Name + suffix)) }
	// Two of them, so that a message that waits for the tick that makes it a dead letter does not keep others from being counted.
	attempts := make([]render.Attempts, 2)
	for n := range attempts {
		attempts[n] = render.Attempts{Schemas: schemasOf(s), Sequence: internal(fmt.Sprintf("_attempts_%d", n)), Inbox: i.Name, No: n}
	}
	pending := in("_pending")
	if i.Materialize || !i.Managed() {
		pending = internal("_pending")
	}
	return render.InboxRelations{
		Table: render.Name(i.Relation), Rows: render.Name(i.Relation), OrderIndex: in("_order"), ClaimCursor: internal("_claim_cursor"),
		HighWatermark: internal("_high_watermark"),
		PendingView:   in("_pending"), Pending: pending, DLQView: in("_dlq"), StatsView: in("_stats"), Attempts: attempts,
		PastIDs: internal("_past_ids"), PastIDsIndex: internal("_past_ids_end"),
	}
}

func inboxFunctions(s *spec.Spec, i *spec.Inbox) render.InboxFunctions {
	at := func(suffix string) render.Name {
		return schemasOf(s).InInternal(spec.DerivedName(i.Name + suffix))
	}
	own := map[string]render.Name{}
	for _, does := range render.OwnFunctions {
		own[does] = at("_" + does)
	}
	return render.InboxFunctions{
		Fns:     own,
		ClaimFn: at("_claim"), EventIDFn: at("_event_id"), PartitionFn: schemasOf(s).In("inbox_is_my_partition"), KnownFn: at("_known"), FeedFn: at("_feed"),
		ChangedFn: schemasOf(s).InInternal("pgt_inbox_changed"), RowChangedFn: schemasOf(s).InInternal("pgt_inbox_row_changed"),
	}
}

// lastDueOf names the function that knows when an inbox with a cron expression was due.
func lastDueOf(s *spec.Spec, i *spec.Inbox) render.Name {
	return schemasOf(s).InInternal(spec.DerivedName(i.Name + "_last_due"))
}

// dueAfter is how long after its last run the work of an inbox is due, as an interval; empty if every tick looks, as it does up to a second, or
// a cron expression says when. It is a tenth less than the schedule, so that the jitter of ticks does not skip every other one.
func dueAfter(i *spec.Inbox) string {
	every := i.Schedule.Every
	if i.Schedule.Cron != "" || every <= usualTick {
		return ""
	}
	return (every - every/10).Interval()
}

// expression returns an expression so that SQL can go on behind it, whatever comment it ends in.
func expression(text string) string {
	if strings.Contains(text, "--") {
		return text + "\n"
	}
	return text
}
