package upgrade

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// tableChange is how a table becomes another.
type tableChange struct {
	sql     string
	lock    string
	loses   string
	narrows bool // a column goes or changes its type, which views on it do not survive
}

// rewrites is the lock of a change for which PostgreSQL reads or writes the whole table.
const (
	brief    = "ACCESS EXCLUSIVE on it, for a moment"
	rewrites = "ACCESS EXCLUSIVE on it, as long as it takes to read it all"
)

// compareTables derives the change of a table, column by column. New columns come last.
func compareTables(before, after Object) (tableChange, error) {
	var c tableChange
	old, new, shown, err := definitions(before, after)
	if err != nil {
		return c, err
	}
	if old.Partitioned != new.Partitioned {
		return c, fmt.Errorf("table %s is partitioned in one of the versions only, which must be decided when it is made (segment_rows of an outbox): make another one, and let its consumers go over", after.Signature)
	}
	if oldTenant, newTenant := tenantOf(old), tenantOf(new); oldTenant != newTenant {
		return c, fmt.Errorf("ids of table %s are made of %s in one version, and of %s in the other; this must be decided when the inbox is made (tenant): make another one, and let its senders go over",
			after.Signature, oldTenant, newTenant)
	}
	if !slices.Equal(old.Constraints, new.Constraints) {
		return c, fmt.Errorf("constraints of table %s differ between the versions, and there are no steps for that", after.Signature)
	}
	for _, column := range old.Columns {
		if _, stays := find(new.Columns, column.Name); !stays {
			c.alter(after, brief, "drop column %s", sqltext.Ident(column.Name))
			c.narrows = true
			if after.Holds {
				c.loses = "column " + column.Name + " of " + after.Signature
			}
		}
	}
	for n, column := range new.Columns {
		was, there := find(old.Columns, column.Name)
		if !there {
			if column.NotNull && column.Default == "" && column.Generated == "" {
				return c, fmt.Errorf("column %s of table %s is new, takes no null and has no default", column.Name, after.Signature)
			}
			c.addColumn(after, shown.Columns[n])
			continue
		}
		if err := c.alterColumn(after, was, column, shown.Columns[n].Default); err != nil {
			return c, err
		}
	}
	c.setOptions(after, old.Options, new.Options)
	return c, nil
}

// tenantOf names what the ids of an inbox's messages are made of: the tenant's column and the sender's id, or the latter alone.
func tenantOf(t sqltext.TableDefinition) string {
	id, _ := find(t.Columns, "event_id")
	message, there := find(t.Columns, "message_id")
	tenant, _, ids := strings.Cut(id.Generated, " || ")
	if !ids || !there || !strings.Contains(id.Generated, cmp.Or(message.Generated, message.Name)) {
		return "the sender's id"
	}
	return "column " + strings.TrimLeft(tenant, "(") + " and the sender's id"
}

// definitions are the two tables as if nothing had been renamed, and the second as it is.
func definitions(before, after Object) (old, new, shown sqltext.TableDefinition, err error) {
	if old, err = sqltext.DefineTable(cmp.Or(before.OriginSQL, before.SQL)); err == nil {
		new, err = sqltext.DefineTable(cmp.Or(after.OriginSQL, after.SQL))
	}
	if err == nil {
		shown, err = sqltext.DefineTable(after.SQL)
	}
	return old, new, shown, err
}

func find(columns []sqltext.ColumnDefinition, name string) (sqltext.ColumnDefinition, bool) {
	for _, column := range columns {
		if column.Name == name {
			return column, true
		}
	}
	return sqltext.ColumnDefinition{}, false
}

func (c *tableChange) alter(o Object, lock, format string, args ...any) {
	c.sql += "alter table " + o.Signature + " " + fmt.Sprintf(format, args...) + ";\n"
	if lock == rewrites || c.lock == "" {
		c.lock = lock
	}
}

func (c *tableChange) addColumn(o Object, column sqltext.ColumnDefinition) {
	parts := []string{sqltext.Ident(column.Name), column.Type}
	if column.Collation != "" {
		parts = append(parts, "collate", column.Collation)
	}
	if column.NotNull {
		parts = append(parts, "not null")
	}
	lock := brief
	if column.Default != "" {
		parts = append(parts, "default", column.Default)
		if strings.Contains(column.Default, "nextval(") || strings.Contains(column.Default, "clock_timestamp(") {
			lock = rewrites // another value for each row
		}
	}
	if column.Generated != "" {
		parts = append(parts, "generated always as ("+column.Generated+") stored")
		lock = rewrites
	}
	c.alter(o, lock, "add column %s", strings.Join(parts, " "))
}

func (c *tableChange) alterColumn(o Object, was, now sqltext.ColumnDefinition, shownDefault string) error {
	name := sqltext.Ident(now.Name)
	if was.Generated != now.Generated {
		return fmt.Errorf("column %s of table %s is computed in another way, and its rows would not follow", now.Name, o.Signature)
	}
	if was.Type != now.Type || was.Collation != now.Collation {
		collate := ""
		if now.Collation != "" {
			collate = " collate " + now.Collation
		}
		c.alter(o, rewrites, "alter column %s type %s%s using %s::%s", name, now.Type, collate, name, now.Type)
		c.narrows = true
	}
	if was.Default != now.Default {
		if now.Default == "" {
			c.alter(o, brief, "alter column %s drop default", name)
		} else {
			c.alter(o, brief, "alter column %s set default %s", name, shownDefault)
		}
	}
	if was.NotNull != now.NotNull {
		verb, lock := "drop", brief
		if now.NotNull {
			verb, lock = "set", rewrites
		}
		c.alter(o, lock, "alter column %s %s not null", name, verb)
	}
	return nil
}

func (c *tableChange) setOptions(o Object, old, new map[string]string) {
	if sqltext.SameOptions(old, new) {
		return
	}
	var set, reset []string
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, stays := new[name]; !stays {
			reset = append(reset, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(new)) {
		if old[name] != new[name] {
			set = append(set, name+" = "+new[name])
		}
	}
	const lock = "SHARE UPDATE EXCLUSIVE on it, for a moment"
	if len(reset) > 0 {
		c.alter(o, lock, "reset (%s)", strings.Join(reset, ", "))
	}
	if len(set) > 0 {
		c.alter(o, lock, "set (%s)", strings.Join(set, ", "))
	}
}

// takeRows makes the new tables whose rows stand in another table of the version before, and fills them before that one changes or goes.
func (d *differ) takeRows() {
	for _, o := range d.to.Objects {
		if d.takes(o) {
			d.add(Step{Action: "add", Object: o.ID(), SQL: o.Create(d.member) + o.Fill})
		}
	}
}

func (d *differ) takes(o Object) bool {
	_, was := d.old[o.identity()]
	_, there := d.old[o.Takes]
	return !was && there
}
