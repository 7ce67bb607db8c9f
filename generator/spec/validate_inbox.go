package spec

import "github.com/pgsluice/sluice/ivm/diag"

func (c checker) inbox(i *Inbox) {
	c.plainName(i.Place, "inbox", i.Name, i.RenamedFrom)
	c.schema(i.Field("schema"), i.Schema)
	c.roles(&i.Roles)
	if i.Managed() {
		c.managedInbox(i)
	} else {
		c.adoptedInbox(i)
	}
	if i.Schedule.Calculated {
		c.report(i.Field("schedule"), calculatedInbox)
	}
	if i.Retry != nil {
		c.retry(i.Retry)
	}
	if h := i.Health; h.CriticalPendingAge < h.DegradedPendingAge {
		c.report(firstGiven(h.Place, "critical_pending_age", "degraded_pending_age"), criticalFirst, h.CriticalPendingAge, h.DegradedPendingAge)
	}
	if i.Ordering != nil && i.Priority != nil {
		c.errs.Add(orderingPriority.since(i.Field("priority"), i.Field("ordering"), i.Name))
	}
	if i.Ordering != nil {
		c.ordering(i.Ordering)
	}
	if i.Priority != nil {
		c.priority(i)
	}
}

func firstGiven(p Place, fields ...string) diag.Pos {
	for _, f := range fields {
		if p.Given(f) {
			return p.Field(f)
		}
	}
	return p.At
}

// adoptedInbox refuses whatever would alter the user's table.
func (c checker) adoptedInbox(i *Inbox) {
	c.tableName(i.Field("table"), "table", i.Table)
	for _, option := range []string{"schema", "event_id", "tenant", "journal", "dedup_window", "retention"} {
		if i.Given(option) {
			c.report(i.Field(option), managedOnly, option, i.Name)
		}
	}
	if i.BackOff() != nil && (i.Columns == nil || i.Columns.AvailableAt == "") {
		c.report(i.Field("retry"), retryNeedsColumn, i.Name)
	}
	if i.Columns != nil {
		c.distinctColumns(i.Columns)
		c.idColumns(i)
	}
}

func (c checker) distinctColumns(columns *Columns) {
	first := map[string]string{}
	for _, column := range columns.byField() {
		switch other, taken := first[column.Name]; {
		case !taken || column.Name == "":
			first[column.Name] = column.Field
		case other == "id" && len(columns.ID) > 1 && (column.Field == "received_at" || column.Field == "aggregate_id"): // a table that is partitioned by it, or of events
			first[column.Name] = column.Field
		case other == column.Field:
			c.report(column.At, idTwice, column.Name)
		default:
			c.report(firstGiven(columns.Place, column.Field, other), sameColumn, other, column.Field, column.Name)
		}
	}
}

// idColumns refuses what gives a message an id that is one text where several columns make it, and a sequence that is all of the id.
func (c checker) idColumns(i *Inbox) {
	if i.WireFormat != WireNative && len(i.Columns.ID) > 1 {
		c.report(i.Field("wire_format"), wiredID, i.Name)
	}
	if i.Ordering == nil || len(i.Columns.ID) > 1 {
		return
	}
	for _, id := range i.Columns.ID {
		if id.Value == i.Ordering.Sequence || id.Value == i.Columns.ReceivedAt && i.Ordering.Sequence == "received_at" {
			c.report(firstGiven(i.Ordering.Place, "sequence"), sequenceInID, id.Value)
		}
	}
}

func (c checker) managedInbox(i *Inbox) {
	if i.Given("columns") {
		c.report(i.Field("columns"), tableOnly, i.Name)
	}
	if i.DedupWindow != nil {
		c.dedupWindow(i)
	}
	if i.Tenant != "" && c.Extension.Target == TargetPostgres { // others have no tenants
		c.tenant(i)
	}
	c.managedColumns(i)
}

// tenant refuses what would show one tenant the messages of another, or whose parts know no tenants.
func (c checker) tenant(i *Inbox) {
	for _, o := range []struct {
		option string
		given  bool
	}{
		{"ordering", i.Ordering != nil}, {"priority", i.Priority != nil}, {"wire_format", i.WireFormat != WireNative},
		{"materialize", i.Materialize}, {"change_feed", i.ChangeFeed},
	} {
		if o.given {
			c.report(i.Field(o.option), allTenants, o.option, i.Name)
		}
	}
}

// dedupWindow checks that ids are remembered for longer than messages are kept; otherwise the option does nothing.
func (c checker) dedupWindow(i *Inbox) {
	kept := c.Settings.hours("inbox_processed_retention_hours")
	if i.Retention.Processed != nil {
		kept = *i.Retention.Processed
	}
	switch at := i.Field("dedup_window"); {
	case kept == 0:
		c.report(at, windowNeedless)
	case *i.DedupWindow < kept:
		c.report(at, windowTooShort, *i.DedupWindow, kept)
	}
}

func (c checker) retry(r *Retry) {
	switch {
	case r.Backoff == BackoffNone:
		if r.Given("initial") || r.Given("max") {
			c.report(firstGiven(r.Place, "initial", "max"), delayNeedless)
		}
	case r.Initial == 0:
		c.report(r.Field("initial"), initialZero)
	case r.Max < r.Initial:
		c.report(firstGiven(r.Place, "max", "initial"), maxBelowInitial, r.Max, r.Initial)
	}
}

func (c checker) ordering(o *Ordering) {
	if o.Aggregate == o.Sequence {
		c.report(firstGiven(o.Place, "sequence", "aggregate"), sameOrderColumn, o.Sequence)
	}
	if o.Sequence == "received_at" && o.Mode == OrderingContiguous {
		c.report(o.Field("mode"), contiguousTime)
	}
	if o.Mode == OrderingMonotonic && o.Given("start") {
		c.report(o.Field("start"), startNeedless)
	}
}
