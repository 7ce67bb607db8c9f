package fixed

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// role is a role of a spec, with what it may do.
type role struct {
	Name, May string
	Grants    []grant
}

// grant is what a role may do with some objects of one kind.
type grant struct{ Privileges, On string }

// roles creates the roles that the spec names and grants them what they need, by templates of a server's folder.
func roles(folder string, schemas []string, all ...role) []object {
	var made []object
	for _, r := range all {
		if r.Name == "" {
			continue
		}
		r.Grants = slices.DeleteFunc(r.Grants, func(g grant) bool { return g.On == "" })
		data := struct {
			role
			Role, Schemas string
		}{r, ident(r.Name), strings.Join(schemas, ", ")}
		made = append(made, object{sql: render.Must(folder+"/role.sql", data)}, object{sql: render.Must(folder+"/grants.sql", data)})
	}
	return made
}

// schemas creates those of a spec, unless they are there.
func schemas(folder string, names []string) []object {
	var made []object
	for _, schema := range names {
		made = append(made, object{sql: render.Must(folder+"/schema.sql", schema)})
	}
	return made
}

// indexes are those of an inbox.
func indexes(i Inbox) []object {
	made := []object{create("fixed/inbox_due_index", i), create("fixed/inbox_dead_index", i)}
	if i.IndexesPayload {
		made = append(made, create("fixed/inbox_payload_index", i))
	}
	if i.CoveringIndex.Name != "" {
		made = append(made, create("fixed/inbox_journal_index", i))
	}
	return made
}

// messageViewsOf are the views of an inbox that show messages.
func messageViewsOf(i Inbox) []object {
	made := []object{create("fixed/inbox_pending_view", i)}
	if i.DeadLetter {
		made = append(made, create("fixed/inbox_dlq_view", i))
	}
	return made
}

func inboxTables(view Extension) []Name {
	return each(view, func(i Inbox) []Name { return []Name{i.Table} })
}

// messageViews are the views that show messages.
func messageViews(view Extension) []Name {
	return each(view, func(i Inbox) []Name { return []Name{i.PendingView, i.DLQView}[:count(i.DeadLetter)+1] })
}

func statsViews(view Extension) []Name {
	return each(view, func(i Inbox) []Name { return []Name{i.StatsView}[:count(i.Stats)] })
}

// sequences are those that senders take numbers from, as GRANT wants them.
func sequences(view Extension) string {
	names := each(view, func(i Inbox) []Name { return []Name{i.Numbers}[:count(i.Journal != nil)] })
	for _, o := range view.Outboxes {
		names = append(names, []Name{o.IDs}[:count(view.Target == spec.TargetCitus)]...)
	}
	if len(names) == 0 {
		return ""
	}
	return "sequence " + list(names)
}

func outboxTables(view Extension) []Name {
	var names []Name
	for _, o := range view.Outboxes {
		names = append(names, o.Table)
	}
	return names
}

func each(view Extension, of func(Inbox) []Name) []Name {
	var names []Name
	for _, i := range view.Inboxes {
		names = append(names, of(i)...)
	}
	return names
}

func count(given bool) int {
	if given {
		return 1
	}
	return 0
}

// functions lists those of the names given that exist, as GRANT wants them.
func functions(made []object, names ...string) string {
	var signatures []string
	for _, o := range made {
		if o.kind == "function" && slices.Contains(names, o.name.Name) {
			signatures = append(signatures, o.signature())
		}
	}
	if len(signatures) == 0 {
		return ""
	}
	return "function " + strings.Join(signatures, ", ")
}
