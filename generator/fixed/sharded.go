package fixed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// streamTables creates the stream tables of a spec for Citus. Each shard of one is computed on its node from the shards beside it: the keys that changed there, which
// triggers on the shards note, or all of them.
func streamTables(view Extension) []object {
	if len(view.StreamTables) == 0 {
		return nil
	}
	var all []object
	add := func(template string, data any) { all = append(all, create(template, data)) }
	run := func(template string, data any) { all = append(all, object{sql: render.Must(template+".sql", data)}) }
	add("citus/pgt_stream_tables", view)
	if view.AnySharded() {
		for _, function := range []string{"pgt_capture", "pgt_local_shards", "pgt_shape", "pgt_require_distributed"} {
			add("citus/"+function, view)
		}
	}
	distribute := func(table render.Name, t render.Sharded, column string) {
		run("citus/stream_distribute", struct {
			Table, With render.Name
			Column      string
		}{table, t.Like(), column})
	}
	for _, t := range view.StreamTables {
		if t.Sharded() {
			add("citus/stream_changes", t)
			distribute(t.Changes, t, "key")
		}
		if t.HasMarks() {
			add("citus/stream_marks", t)
			run("citus/reference_table", t.Marks.String())
		}
		all = append(all, object{kind: "table", name: Name(t.Rows), sql: render.Must("citus/stream_rows.sql", t)})
		refresh, check := "citus/stream_refresh", "citus/stream_check"
		if t.Sharded() {
			distribute(t.Rows, t, t.Key)
			run("citus/stream_require", t)
		} else {
			run("citus/reference_table", t.Rows.String())
			refresh, check = "citus/stream_recompute", "citus/stream_compare"
		}
		add("citus/stream_view", t)
		add(refresh, t)
		add(check, t)
		run("citus/stream_table_row", struct {
			render.Sharded
			Own Extension
		}{t, view})
	}
	for _, function := range []string{"pgt_on_nodes", "refresh_stream_table", "check_stream_table"} {
		add("citus/"+function, view)
	}
	if view.AnySharded() {
		all = append(all, captures(view)...)
	}
	return all
}

// AnySharded reports whether a stream table is computed shard by shard.
func (e Extension) AnySharded() bool {
	return slices.ContainsFunc(e.StreamTables, render.Sharded.Sharded)
}

// AnyFull reports whether a stream table is recomputed on the coordinator.
func (e Extension) AnyFull() bool {
	return slices.ContainsFunc(e.StreamTables, func(t render.Sharded) bool { return !t.Sharded() })
}

// capture is a source with the tables in which its changes are noted.
type capture struct {
	Extension
	Table  Name
	Column string
	noted  []string
}

// Arguments are those of its triggers.
func (c capture) Arguments() string {
	args := []string{sqltext.Literal(c.Column)}
	for _, table := range c.noted {
		args = append(args, sqltext.Literal(table))
	}
	return strings.Join(args, ", ")
}

// captures creates the triggers of sources.
func captures(view Extension) []object {
	var sources []capture
	for _, t := range view.StreamTables {
		for _, s := range t.Sources {
			at := slices.IndexFunc(sources, func(c capture) bool { return c.Table == Name(s.Name) })
			if at < 0 {
				at = len(sources)
				sources = append(sources, capture{Extension: view, Table: Name(s.Name), Column: s.Column})
			}
			noted := t.Changes
			if s.Column == "" {
				noted = t.Marks
			}
			sources[at].noted = append(sources[at].noted, noted.String())
		}
	}
	all := []object{{sql: render.Must("citus/stream_triggers.sql", view)}}
	for _, c := range sources {
		if c.Column == "" {
			all = append(all, c.trigger("", "insert or update or delete", ""))
			continue
		}
		for _, event := range []string{"insert", "update", "delete"} {
			rows := "new"
			if event == "delete" {
				rows = "old"
			}
			all = append(all, c.trigger("_"+event, event, rows))
		}
	}
	return append(all, object{down: "set citus.enable_unsafe_triggers = on;\nset citus.multi_shard_modify_mode to 'sequential';\n"})
}

func (c capture) trigger(suffix, event, rows string) object {
	name := spec.DerivedName(c.Extension.Name + "_log" + suffix)
	sql := render.Must("citus/stream_trigger.sql", struct {
		capture
		Trigger, Event, Rows string
	}{c, name, event, rows})
	return object{sql: sql, down: fmt.Sprintf("drop trigger if exists %s on %s;\n", ident(name), c.Table)}
}
