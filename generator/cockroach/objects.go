package cockroach

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// object is one statement, or the grants of a role.
type object struct {
	kind string // table, index, view, function; empty for all else
	name Name
	args []string // types of a function
	sql  string
}

// signature names the object for GRANT and DROP.
func (o object) signature() string {
	if o.kind == "function" {
		return o.name.String() + "(" + strings.Join(o.args, ", ") + ")"
	}
	return o.name.String()
}

// drop removes the object if it is there; empty for what goes with its table, and for what others may use.
func (o object) drop() string {
	switch o.kind {
	case "table", "view", "function":
		return fmt.Sprintf("drop %s if exists %s;\n", o.kind, o.signature())
	}
	return ""
}

// header is the first sentence of the comment above a statement.
func (o object) header() string {
	text, _, _ := strings.Cut(strings.TrimPrefix(o.sql, "-- "), "\n")
	sentence, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(sentence, ".") + "."
}

// objectsOf creates everything, in an order in which it can be created.
func objectsOf(s *spec.Spec, view Extension) []object {
	var all []object
	add := func(template string, data any) { all = append(all, create(template, data)) }
	for _, schema := range view.Schemas {
		all = append(all, object{sql: render.Must("cockroachdb/schema.sql", schema)})
	}
	for _, i := range view.Inboxes {
		add("inbox_table", i)
		add("inbox_due_index", i)
		add("inbox_dead_index", i)
		if i.EventID != "" {
			add("inbox_payload_index", i)
		}
		add("inbox_pending_view", i)
		if i.DeadLetter {
			add("inbox_dlq_view", i)
		}
		if i.Stats {
			add("inbox_stats_view", i)
		}
	}
	for _, o := range view.Outboxes {
		add("outbox_table", o)
	}
	if len(view.Inboxes) > 0 {
		for _, function := range []string{"inbox_receive", "inbox_pending", "inbox_claim", "inbox_mark_processed", "inbox_mark_failed", "replay_inbox_messages"} {
			add(function, view)
		}
	}
	if len(view.Outboxes) > 0 {
		add("outbox_publish", view)
	}
	return append(all, roles(s, view, all)...)
}

// create renders one statement. It is parsed, with its body, by PostgreSQL's parser: what that refuses is a bug in a template.
func create(template string, data any) object {
	sql := render.Must("cockroachdb/"+template+".sql", data)
	made, err := sqltext.Describe(sql)
	if err == nil {
		err = made.CheckBody()
	}
	if err != nil || made.Kind == "" {
		panic(fmt.Sprintf("template cockroachdb/%s does not create one object: %v\n%s", template, err, sql))
	}
	return object{made.Kind, Name{made.Schema, made.Name}, made.Args, sql}
}
