package objects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// imperative adds the functions that create and drop inboxes at run time. What these consist of are the objects of an inbox of the spec, and
// functions that do for one of them what those that users call do for the inboxes of the spec.
func (b *builder) imperative(s *spec.Spec, view render.Extension) {
	for _, name := range []string{"pgt_derived_name", "pgt_inbox_function", "pgt_own_columns", "pgt_own_column", "pgt_own_list", "pgt_require_tracked"} {
		b.add("imperative/"+name+".sql", view)
	}
	b.add("imperative/pgt_inbox_script.sql", b.script(s, view))
	for _, name := range []string{"pgt_detach_inbox", "pgt_attach_inbox", "pgt_lock_created", "pgt_adopt_inbox", "pgt_new_inbox", "pgt_track_table"} {
		b.add("imperative/"+name+".sql", view)
	}
	for _, name := range []string{"create_inbox", "enable_inbox_tracking", "drop_inbox"} {
		c := part{"imperative/" + name + ".sql", view}.create()
		b.addCreated(c)
		b.push(upgrade.Object{ // it creates and drops objects
			Kind: "grant", Signature: "nobody: " + c.of.Signature(),
			SQL: sqltext.Wrap("revoke execute on function " + c.of.Signature() + " from public;\n"), Section: sectionOf(view),
		}, nil)
	}
}

// createdObjects are the objects of an inbox that functions create, and those that only such inboxes have.
func (b *builder) createdObjects(s *spec.Spec, view render.Extension, inbox render.Inbox) []upgrade.Object {
	apart := &builder{places: map[string]Origin{}, origins: map[string]Origin{}, errs: &diag.List{}, checks: b.checks, mark: b.mark, internal: b.internal}
	apart.inbox(view, inbox)
	one := view.ForOne(inbox)
	for _, template := range []string{
		"inbox_receive", "inbox_receive_many", "inbox_pending", "inbox_mark_processed", "inbox_mark_processed_many", "inbox_mark_failed",
	} {
		apart.add("inbox/"+template+".sql", one)
	}
	roles := *s
	roles.Inboxes = []spec.Inbox{spec.NewInbox(render.AnyInbox, render.AnySchema)}
	one.Inboxes[0].DeadLetter, one.Inboxes[0].Stats = false, false
	apart.grants(&plan.Plan{Spec: &roles, View: one})
	return apart.objects
}

// script collects the statements of inboxes that functions create. What those with tables of their own and those over tables of users have in common is there once.
func (b *builder) script(s *spec.Spec, view render.Extension) *render.Script {
	script := render.NewScript(view)
	var table, code, dead, stats, uncode, untrigger, unsequence, unindex []statements
	add := func(list *[]statements, of kindOf, sql string) {
		*list = append(*list, statements{of, script.Format(sql)})
	}
	tracked := *view.Tracked
	rows := fmt.Sprintf("create view %s as\nselect %s\nfrom %s i;\n", tracked.Rows, tracked.RowList(), tracked.Table)
	add(&code, ofTracked, rows)
	for _, o := range merged(b.createdObjects(s, view, *view.FromSQL), b.createdObjects(s, view, tracked)) {
		sql := o.SQL + o.CommentSQL()
		function := strings.HasPrefix(o.Template, "inbox/pgt_") // of triggers, which stay where they are
		switch {
		case o.Kind == "table":
			add(&table, o.of, sql)
		case o.Kind == "sequence":
			add(&table, o.of, sql)
			add(&unsequence, o.of, dropIfExists(o.Drop))
		case o.Kind == "index":
			add(&table, o.of, sql)
			add(&unindex, o.of, "drop index if exists "+o.Signature+";\n")
		case o.Kind == "row": // create_inbox inserts them
		case o.Kind == "trigger":
			add(&code, o.of, strings.Replace(sql, "create trigger", "create or replace trigger", 1))
		case o.Template == "inbox/dlq_view":
			add(&dead, o.of, sql+grantSelect(o.Signature, s.Roles.Consumer))
		case o.Template == "inbox/stats_view":
			add(&stats, o.of, sql+grantSelect(o.Signature, s.Roles.Monitor))
		case function:
			add(&code, o.of, strings.Replace(sql, "create function", "create or replace function", 1))
			add(&untrigger, o.of, dropIfExists(o.Drop))
		case o.Kind != "role":
			add(&code, o.of, sql)
		}
		if !function && (o.Kind == "function" || o.Kind == "view") {
			add(&uncode, o.of, dropIfExists(o.Drop))
		}
	}
	slices.Reverse(uncode)
	add(&uncode, ofTracked, fmt.Sprintf("drop view if exists %s;\n", tracked.Rows))
	script.Table, script.Code, script.DeadLetter, script.Stats = quoted(table), quoted(code), quoted(dead), quoted(stats)
	script.Uncode, script.Untrigger, script.Unsequence, script.Unindex = quoted(uncode), quoted(untrigger), quoted(unsequence), quoted(unindex)
	var onTable, idIndex []statements
	add(&onTable, ofAll, tracked.OverTable())
	tracked.Own.IDIndex = render.Name{Schema: tracked.OrderIndex.Schema, Name: "~id_index~"}
	add(&idIndex, ofAll, render.Must("inbox/id_index.sql", tracked)+fmt.Sprintf("comment on index %s is %s;\n", tracked.Own.IDIndex, sqltext.Literal(tracked.IndexComment())))
	script.OnTable, script.IDIndex = quoted(onTable), quoted(idIndex)
	return script
}

// kindOf says which inboxes have an object that functions create.
type kindOf int

const (
	ofAll kindOf = iota
	ofManaged
	ofTracked
)

type objectOf struct {
	upgrade.Object
	of kindOf
}

// statements are SQL of some inboxes.
type statements struct {
	of  kindOf
	sql string
}

// merged merges the objects of two kinds of inboxes, each in its order.
func merged(managed, tracked []upgrade.Object) (all []objectOf) {
	for _, o := range tracked {
		n := slices.IndexFunc(managed, func(m upgrade.Object) bool { return m.ID() == o.ID() && m.SQL == o.SQL })
		if n < 0 {
			all = append(all, objectOf{o, ofTracked})
			continue
		}
		for _, m := range managed[:n] {
			all = append(all, objectOf{m, ofManaged})
		}
		all, managed = append(all, objectOf{o, ofAll}), managed[n+1:]
	}
	for _, m := range managed {
		all = append(all, objectOf{m, ofManaged})
	}
	return all
}

// quoted is statements as an expression of pgt_inbox_script.
func quoted(list []statements) string {
	var parts []string
	for n, s := range list {
		if n+1 < len(list) && list[n+1].of == s.of {
			list[n+1].sql = s.sql + list[n+1].sql
			continue
		}
		part := "$sql$\n" + s.sql + "$sql$"
		switch s.of {
		case ofManaged:
			part = "case when v_inbox.is_managed then " + part + " else '' end"
		case ofTracked:
			part = "case when v_inbox.is_managed then '' else " + part + " end"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " || ")
}

// grantSelect lets a role read a view.
func grantSelect(view, role string) string {
	if role == "" {
		return ""
	}
	return sqltext.Wrap("grant select on " + view + " to " + sqltext.Ident(role) + ";\n")
}

// dropIfExists drops what may be gone.
func dropIfExists(drop string) string {
	words := strings.SplitN(drop, " ", 3)
	return words[0] + " " + words[1] + " if exists " + words[2]
}
