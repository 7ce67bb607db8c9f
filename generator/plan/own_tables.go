package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// adopts reports whether an inbox is over a table of the user's.
func adopts(s *spec.Spec) bool {
	return slices.ContainsFunc(s.Inboxes, func(i spec.Inbox) bool { return !i.Managed() })
}

// checkOwnTables checks the tables of users that inboxes are over.
func (c *compiler) checkOwnTables() {
	for n := range c.spec.Inboxes {
		i := &c.spec.Inboxes[n]
		if i.Managed() || i.Relation.Name == "" {
			continue
		}
		if r, _, _ := c.ownTable(i); r == nil && i.Materialize {
			for _, relation := range i.DerivedRelations(c.spec.Extension) { // so that those who read them are not told that they do not exist
				c.known.Add(&catalog.Relation{Schema: relation.Schema, Name: relation.Name, Kind: catalog.StreamTable, At: i.At, Open: true})
			}
		}
	}
}

// ownTable finds the table of an inbox, and its columns; nil if anything is wrong with them.
func (c *compiler) ownTable(i *spec.Inbox) (*catalog.Relation, render.Columns, []render.Shape) {
	var columns render.Columns
	at, problems := i.Field("table"), c.errs.Len()
	r := c.known.Relation(i.Relation.Schema, i.Relation.Name)
	if r == nil {
		c.errs.Add(unknownTable(at, i, c.known, len(c.spec.DDL) > 0))
		return nil, columns, nil
	}
	if why := unfit(r); why != "" {
		c.errs.Add(unfitTable(at, i, r, why))
		return nil, columns, nil
	}
	var shapes []render.Shape
	for _, role := range rolesOf(i, &columns) {
		shape, ok := c.ownColumn(i, r, role)
		if !ok {
			continue
		}
		*role.column = shape.Name
		switch used := slices.ContainsFunc(shapes, func(s render.Shape) bool { return s.Name == shape.Name }); {
		case !used:
			shapes = append(shapes, shape)
		case role.column == &columns.Priority, role.field == "sequence" && shape.Name == columns.RetryCount: // receiving would set it twice
			c.errs.Add(usedTwice(role.pos(i), role, r, r.Columns[r.Column(role.name)]))
		}
		if role.field == "sequence" {
			c.sequence(i, r, role, shape)
		}
	}
	var ids []int
	for _, name := range columns.IDColumns() {
		ids = append(ids, r.Column(name.Name()))
	}
	if !slices.Contains(ids, -1) && distinct(ids) && !identifies(r, ids) {
		c.errs.Add(notUnique(role{field: "id"}.pos(i), i, r, ids))
	}
	if c.errs.Len() > problems {
		return nil, columns, nil
	}
	return r, columns, shapes
}

const timestamp = "timestamp with time zone"

// isTime reports whether a column holds times, with or without a time zone.
func isTime(typ string) bool { return typ == timestamp || typ == render.LocalTime }

// sequence completes the ordering of an inbox by the type of its sequence.
func (c *compiler) sequence(i *spec.Inbox, r *catalog.Relation, role role, shape render.Shape) {
	o := i.Ordering
	switch column := r.Columns[r.Column(role.name)]; {
	case !isTime(shape.Type) && o.Mode == "":
		o.Mode = spec.OrderingContiguous
	case isTime(shape.Type) && !column.NotNull:
		c.errs.Add(mayBeNull(role.pos(i), role, r, column))
	case isTime(shape.Type) && o.Mode == spec.OrderingContiguous:
		c.errs.Add(unlike(o.Field("mode"), r, column, "wrong-type", "is a timestamp, and only numbers follow each other without a gap", "write mode: monotonic, or order by a number"))
	case isTime(shape.Type):
		o.Mode = spec.OrderingMonotonic
	}
}

// unfit says why a relation cannot be the table of an inbox; empty if it can.
func unfit(r *catalog.Relation) string {
	switch {
	case r.Kind != catalog.Table && r.Kind != catalog.Partitioned:
		return "it is a " + r.Kind.String()
	case r.PartOfOthers():
		return "its rows are written through another table, too, whose statements fire no trigger of its own"
	case r.ReadsOthers():
		return "other tables inherit from it, to which its keys do not extend"
	case r.Unlogged:
		return "it is unlogged, so that a crash empties it and no trigger sees that"
	case r.Kind == catalog.Partitioned:
		return unfitPartition(r)
	}
	return ""
}

// unfitPartition says why a table cannot be that of an inbox because of a partition, at any level.
func unfitPartition(r *catalog.Relation) string {
	for _, p := range r.Children {
		switch why := unfitPartition(p); {
		case p.Unlogged:
			return "its partition " + p.SQLName() + " is unlogged, so that a crash empties it and no trigger sees that"
		case p.Kind != catalog.Table && p.Kind != catalog.Partitioned:
			return "its partition " + p.SQLName() + " is a " + p.Kind.String() + ", which fires no triggers for what others write"
		case why != "":
			return why
		}
	}
	return ""
}

func distinct(columns []int) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(columns)))) == len(columns)
}

// identifies reports whether a key of the table is over just these columns.
func identifies(r *catalog.Relation, columns []int) bool {
	sorted := func(key []int) []int { return slices.Sorted(slices.Values(key)) }
	is := func(key []int) bool { return slices.Equal(sorted(key), sorted(columns)) }
	return is(r.Key) || slices.ContainsFunc(r.Uniques, is)
}

// ownColumn finds a column of a user's table; not ok if it is not there, or does not fit.
func (c *compiler) ownColumn(i *spec.Inbox, r *catalog.Relation, role role) (render.Shape, bool) {
	at := role.pos(i)
	given := i.Columns != nil && i.Columns.Given(role.field)
	n := r.Column(role.name)
	if n < 0 {
		if role.name != "" && (given || !role.optional && !role.absent) {
			c.errs.Add(noOwnColumn(at, role, r))
		}
		return render.Shape{}, false
	}
	column := r.Columns[n]
	base, _, _ := strings.Cut(column.Type, "(")
	switch fits := slices.Contains(role.types, base); {
	case !fits && role.optional && !given:
		return render.Shape{}, false
	case !fits:
		c.errs.Add(wrongType(at, role, r, column))
	case i.Materialize && ivm.IsInternal(column.Name):
		c.errs.Add(reservedColumn(at, role, r, column))
	case role.written && column.Generated:
		c.errs.Add(generatedColumn(at, role, r, column))
	case role.nullable && column.NotNull:
		c.errs.Add(neverNull(at, role, r, column))
	case !role.nullable && !role.either && !column.NotNull:
		c.errs.Add(mayBeNull(at, role, r, column))
	default:
		return render.Shape{
			Name: render.ColumnName(column.Name), Type: column.Type, Collation: collationOf(column), Nullable: role.nullable, Either: role.either,
		}, true
	}
	return render.Shape{}, false
}

func collationOf(c catalog.Column) string {
	if c.Collation == `"C"` {
		return `pg_catalog."C"`
	}
	return c.Collation
}

// adopt completes the view model of an inbox over a table of the user's; false if the table does not fit.
func (c *compiler) adopt(v *render.Inbox, i *spec.Inbox) bool {
	r, columns, shapes := c.ownTable(i)
	if r == nil {
		return false
	}
	internal := func(suffix string) render.Name {
		return schemasOf(c.spec).InInternal(spec.DerivedName(i.Name + suffix))
	}
	// What stands on the table is named by the table, and so keeps its name when the inbox is renamed.
	beside := func(what string) render.Name {
		return render.Name{Schema: r.Schema, Name: spec.DerivedName(c.spec.Extension.Name + "_" + what + "_" + r.Name)}
	}
	own := &render.OwnTable{Shapes: shapes, Partitioned: r.Kind == catalog.Partitioned, AttachFn: internal("_attach"), DetachFn: internal("_detach"), Triggers: map[string]string{}}
	for _, event := range render.TriggerEvents {
		own.Triggers[event] = spec.DerivedName(fmt.Sprintf("%s_%s_%s_%s", c.spec.Extension.Name, event, r.Schema, r.Name))
	}
	v.Own, v.Columns, v.Table, v.Rows = own, columns, nameOf(r), internal("_rows")
	v.ChangedFn, v.RowChangedFn = internal("_changed"), internal("_row_changed")
	v.OrderIndex = beside("order")
	if i.Ordering != nil {
		v.Ordering = orderingOf(c.spec, i, isTime(own.TypeOf(columns.Sequence)))
		if columns.Sequence == columns.ReceivedAt {
			v.Columns.Sequence = ""
		}
	}
	if len(columns.IDs) > 0 || v.IDKey() != columns.ID.String() {
		own.IDIndex = beside("id")
	}
	if v.Notify != nil {
		v.Notify.Table, v.Notify.Trigger, v.Notify.ByRow = v.Table, own.Triggers["notify"], own.Partitioned
	}
	if i.Priority != nil {
		priorityOf(c.spec, i, v)
	}
	v.ProcessedRetention, v.DeadRetention = spec.Duration(0).Interval(), spec.Duration(0).Interval() // rows of users are never deleted
	return true
}
