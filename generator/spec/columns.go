package spec

import (
	"reflect"
	"slices"

	"github.com/pgsluice/sluice/ivm/diag"
)

var (
	// textColumns and otherColumns are what every managed inbox has.
	textColumns    = []string{"event_id", "event_type", "source", "aggregate_id", "trace_id"}
	otherColumns   = []string{"payload", "received_at", "processed_at", "error", "retry_count"}
	journalColumns = []string{"sequence_no", "tag", "status", "updated_at"}
	systemColumns  = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}
)

// ColumnName is a field of Columns and a name that it gives, which stands at At if a list holds it.
type ColumnName struct {
	Field, Name string
	At          diag.Pos
}

// Named lists the columns that a spec names; none if it has no list.
func (c *Columns) Named() []ColumnName {
	if c == nil {
		return nil
	}
	return slices.DeleteFunc(c.byField(), func(n ColumnName) bool { return !c.Given(n.Field) })
}

// byField lists the columns under the names of their fields.
func (c *Columns) byField() []ColumnName {
	var all []ColumnName
	for _, id := range c.ID {
		all = append(all, ColumnName{"id", id.Value, id.At})
	}
	for _, other := range []struct{ field, name string }{
		{"event_type", c.EventType}, {"source", c.Source}, {"aggregate_id", c.AggregateID},
		{"payload", c.Payload}, {"received_at", c.ReceivedAt}, {"processed_at", c.ProcessedAt}, {"error", c.Error},
		{"retry_count", c.RetryCount}, {"trace_id", c.TraceID}, {"available_at", c.AvailableAt},
	} {
		all = append(all, ColumnName{other.field, other.name, c.Field(other.field)})
	}
	return all
}

// DefaultColumns are the columns of a table of the user's for which a spec names none.
func DefaultColumns() Columns {
	var c Columns
	setDefaults(reflect.ValueOf(&c).Elem())
	return c
}

// managedColumns checks the columns that the options of a managed inbox read and add.
func (c checker) managedColumns(i *Inbox) {
	taken := append(slices.Clone(textColumns), otherColumns...)
	if i.BackOff() != nil {
		taken = append(taken, "available_at")
	}
	if i.Journal != nil {
		taken = append(taken, journalColumns...)
	}
	add := func(at diag.Pos, option, column string) {
		switch {
		case slices.Contains(systemColumns, column):
			c.report(at, systemColumn, option, column)
		case slices.Contains(taken, column):
			c.report(at, takenColumn, option, column)
		}
		taken = append(taken, column)
	}
	if i.Tenant != "" && c.Extension.Target == TargetPostgres {
		taken = append(taken, "message_id")
		add(i.Field("tenant"), "tenant", i.Tenant)
	}
	if o := i.Ordering; o != nil {
		c.orderingColumns(i, o, add)
	}
	if p := i.Priority; p != nil {
		c.priorityColumn(i, p, add)
	}
}

func (c checker) orderingColumns(i *Inbox, o *Ordering, add func(at diag.Pos, option, column string)) {
	c.textColumn(i, o.Field("aggregate"), o.Aggregate)
	switch {
	case o.Sequence == "received_at", o.Sequence == o.Aggregate:
	case slices.Contains(textColumns, o.Sequence), slices.Contains(otherColumns, o.Sequence):
		c.report(o.Field("sequence"), notOrderable, o.Sequence)
	default:
		add(o.Field("sequence"), "ordering", o.Sequence)
	}
}

func (c checker) priorityColumn(i *Inbox, p *Priority, add func(at diag.Pos, option, column string)) {
	if p.Tiers != nil {
		add(p.Field("column"), "priority", p.Column)
	} else {
		c.textColumn(i, p.Field("column"), p.Column)
	}
}

// textColumn checks that a column that an option reads is there.
func (c checker) textColumn(i *Inbox, at diag.Pos, column string) {
	if slices.Contains(textColumns, column) || column == i.Tenant {
		return
	}
	e := unknownColumn.at(at, column)
	if near := diag.Nearest(column, textColumns); near != "" {
		e.Hint = didYouMean(near)
	}
	c.errs.Add(e)
}
