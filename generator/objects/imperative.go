package objects

import (
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
func (b *builder) imperative(s *spec.Spec, view render.Extension, one *builder) {
	b.add("imperative/pgt_derived_name.sql", view)
	b.add("imperative/pgt_inbox_function.sql", view)
	b.add("imperative/pgt_inbox_script.sql", one.script(s, view))
	for _, name := range []string{"pgt_attach_inbox", "pgt_detach_inbox", "pgt_lock_created", "pgt_adopt_inbox"} {
		b.add("imperative/"+name+".sql", view)
	}
	for _, name := range []string{"create_inbox", "drop_inbox"} {
		c := part{"imperative/" + name + ".sql", view}.create()
		b.addCreated(c)
		b.push(upgrade.Object{ // it creates and drops objects
			Kind: "grant", Signature: "nobody: " + c.of.Signature(),
			SQL: sqltext.Wrap("revoke execute on function " + c.of.Signature() + " from public;\n"), Section: sectionOf(view),
		}, nil)
	}
}

// apart is a builder of what functions create at run time.
func (b *builder) apart() *builder {
	return &builder{places: map[string]Origin{}, origins: map[string]Origin{}, errs: &diag.List{}, checks: b.checks, mark: b.mark, internal: b.internal}
}

// script adds to the objects of an inbox those that only inboxes have which functions create, and collects the statements of all.
func (b *builder) script(s *spec.Spec, view render.Extension) *render.Script {
	for _, template := range []string{
		"inbox_receive", "inbox_receive_many", "inbox_pending", "inbox_mark_processed", "inbox_mark_processed_many", "inbox_mark_failed",
	} {
		b.add("inbox/"+template+".sql", view.ForOne())
	}
	roles := *s
	roles.Inboxes = []spec.Inbox{spec.NewInbox(render.AnyInbox, render.AnySchema)}
	rights := view.ForOne()
	rights.Inboxes[0].DeadLetter, rights.Inboxes[0].Stats = false, false
	b.grants(&plan.Plan{Spec: &roles, View: rights})
	script := render.NewScript(view)
	var drops []string
	for _, o := range b.objects {
		sql := script.Format(o.SQL + o.CommentSQL())
		switch {
		case o.Kind == "table" || o.Kind == "sequence" || o.Kind == "index":
			script.Table += sql
			if o.Kind == "sequence" {
				script.Unsequence += script.Format(dropIfExists(o.Drop))
			} else if o.Kind == "index" {
				script.Unindex += script.Format("drop index if exists " + o.Signature + ";\n")
			}
		case o.Kind == "row": // create_inbox inserts them
		case o.Kind == "trigger":
			script.Code += strings.Replace(sql, "create trigger", "create or replace trigger", 1)
		case o.Template == "inbox/dlq_view":
			script.DeadLetter += sql + script.Format(grantSelect(o.Signature, s.Roles.Consumer))
		case o.Template == "inbox/stats_view":
			script.Stats += sql + script.Format(grantSelect(o.Signature, s.Roles.Monitor))
		case o.Kind != "role":
			script.Code += sql
		}
		if o.Kind == "function" || o.Kind == "view" {
			drops = append(drops, script.Format(dropIfExists(o.Drop)))
		}
	}
	for n := len(drops) - 1; n >= 0; n-- {
		script.Uncode += drops[n]
	}
	return script
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
