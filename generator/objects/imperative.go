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
	for _, name := range []string{"pgt_own_columns", "pgt_own_ids", "pgt_given_id", "pgt_own_column", "pgt_own_list", "pgt_require_tracked", "pgt_level_of"} {
		b.add("imperative/"+name+".sql", view)
	}
	b.add("imperative/pgt_inbox_script.sql", b.script(s, view))
	for _, name := range []string{
		"pgt_detach_inbox", "pgt_attach_inbox", "pgt_lock_created", "pgt_adopt_inbox", "pgt_name_triggers", "pgt_unlike_inbox", "pgt_new_inbox", "pgt_track_table", "pgt_require_created", "pgt_require_order", "pgt_require_priority", "pgt_tiers", "pgt_take_down",
	} {
		b.add("imperative/"+name+".sql", view)
	}
	for _, name := range []string{"create_inbox", "enable_inbox_tracking", "enable_inbox_ordering", "disable_inbox_ordering", "enable_inbox_priority", "disable_inbox_priority", "drop_inbox"} {
		c := part{"imperative/" + name + ".sql", view}.create()
		b.addCreated(c)
		b.push(upgrade.Object{ // it creates and drops objects
			Kind: "grant", Signature: "nobody: " + c.of.Signature(),
			SQL: hidden(c.of.Signature()), Section: sectionOf(view),
		}, nil)
	}
}

// createdObjects are the objects of an inbox that functions create.
func (b *builder) createdObjects(s *spec.Spec, view render.Extension, inbox render.Inbox) []upgrade.Object {
	apart := b.apart()
	apart.inbox(view, inbox)
	one := render.Extension{Schemas: view.Schemas, Extension: view.Extension, Version: view.Version, Settings: view.Settings, Inboxes: []render.Inbox{inbox}}
	roles := *s
	roles.Inboxes = []spec.Inbox{spec.NewInbox(render.AnyInbox, render.AnySchema)}
	one.Inboxes[0].DeadLetter, one.Inboxes[0].Stats = false, false
	apart.grants(&plan.Plan{Spec: &roles, View: one})
	return apart.objects
}

// scriptParts are the parts of the script: what creates an inbox, then what drops it.
var scriptParts = []string{
	"table",        // of those that have one, and sequences
	"backlog",      // of those that hand out messages in sequence, or by priority
	"code",         // functions, views, triggers and rights, which an upgrade creates again
	"dead letters", // views that an inbox may lack
	"statistics",
	"level",     // of priority: what says where a claim starts
	"tier",      // the view of its messages
	"on table",  // indexes and triggers on a table of a user's
	"id index",  // that it may need
	"drop code", // what code, dead letters and statistics create, but for triggers and their functions
	"drop trigger functions",
	"drop backlog",
	"drop level",
	"drop sequences",
	"drop index",
}

// levelObjects are the objects of a level of priority and of a tier, of which an inbox that a function creates has as many as it was told.
func (b *builder) levelObjects(inbox render.Inbox) []upgrade.Object {
	apart := b.apart()
	apart.add("inbox/level_cursor.sql", render.Level{Inbox: inbox, Level: render.AnyLowest, Cursor: inbox.InInternal("~level_cursor~")})
	apart.add("inbox/tier_view.sql", render.Tier{
		Inbox: inbox, Tier: "~tier~", Min: render.AnyLowest, Max: render.AnyHighest, View: render.Name{Schema: render.AnySchema, Name: "~tier_view~"},
	})
	return apart.objects
}

// apart is a builder of objects that the extension does not have.
func (b *builder) apart() *builder {
	return &builder{places: map[string]Origin{}, origins: map[string]Origin{}, errs: &diag.List{}, checks: b.checks, mark: b.mark, internal: b.internal}
}

// script collects the statements of inboxes that functions create. What kinds of them have in common is there once.
func (b *builder) script(s *spec.Spec, view render.Extension) *render.Script {
	script := render.NewScript(view)
	parts := map[string][]shared{}
	var before map[string][]statement // of the same mode, over a table that is not partitioned
	for n, kind := range view.Kinds {
		statements := b.kindStatements(s, view, kind, script)
		for name := range statements {
			switch {
			case !strings.HasPrefix(name, "drop "):
			case kind.ByRow(): // the table may have become a partitioned one, or may be gone
				statements[name] = before[name]
			default:
				slices.Reverse(statements[name])
			}
			parts[name] = merge(parts[name], statements[name], n)
		}
		before = statements
	}
	for _, name := range scriptParts {
		script.Parts = append(script.Parts, render.ScriptPart{Name: name, Expression: expression(view.Kinds, parts[name])})
	}
	return script
}

// ofBacklogs are the templates of backlogs of unprocessed messages.
var ofBacklogs = []string{
	"inbox/backlog", "inbox/backlog_due", "inbox/backlog_gaps", "inbox/priority_backlog", "inbox/priority_due", "inbox/claim_turn",
}

// statement is one of a part of the script, known by what it creates or drops.
type statement struct{ id, sql string }

// kindStatements are the statements of a kind of inboxes, by the parts of the script, in the order in which they create objects.
func (b *builder) kindStatements(s *spec.Spec, view render.Extension, kind render.CreatedKind, script *render.Script) map[string][]statement {
	parts := map[string][]statement{}
	add := func(part, id, sql string) {
		parts[part] = append(parts[part], statement{id, script.Format(sql)})
	}
	if kind.Tracked {
		add("code", "rows", fmt.Sprintf("create view %s as\nselect %s\nfrom %s i;\n", kind.Rows, kind.RowList(), kind.Table))
		add("drop code", "rows", fmt.Sprintf("drop view if exists %s;\n", kind.Rows))
		own := *kind.Own
		own.IDIndex = render.Name{Schema: kind.OrderIndex.Schema, Name: "~id_index~"}
		add("on table", "", kind.OverTable())
		kind.Own = &own
		add("id index", "", render.Must("inbox/id_index.sql", kind.Inbox)+fmt.Sprintf("comment on index %s is %s;\n", own.IDIndex, sqltext.Literal(kind.IndexComment())))
	}
	if kind.Priority != nil {
		for _, o := range b.levelObjects(kind.Inbox) {
			sql := o.SQL + o.CommentSQL()
			if o.Kind == "sequence" {
				add("level", o.Kind, strings.Replace(sql, "create sequence", "create sequence if not exists", 1)+grantSequence(o.Signature, s.Roles.Consumer))
				add("drop level", o.Kind, dropIfExists(o.Drop))
			} else {
				add("tier", o.Kind, sql+grantSelect(o.Signature, s.Roles.Consumer))
			}
		}
	}
	for _, o := range b.createdObjects(s, view, kind.Inbox) {
		id, sql := o.ID(), o.SQL+o.CommentSQL()
		trigger := o.Kind == "function" && strings.Contains(sql, "\n    returns trigger\n") // which stay where they are
		switch {
		case o.Kind == "row": // functions insert them
		case o.Kind == "role":
		case slices.Contains(ofBacklogs, o.Template):
			add("backlog", id, sql)
			if o.Kind != "index" { // which goes with its table
				add("drop backlog", id, dropIfExists(o.Drop))
			}
		case o.Kind == "table":
			add("table", id, strings.Replace(sql, "create table", "create table if not exists", 1)) // drop_inbox may have left it
		case o.Kind == "sequence":
			add("table", id, sql)
			add("drop sequences", id, dropIfExists(o.Drop))
		case o.Kind == "index":
			add("table", id, sql)
			add("drop index", id, "drop index if exists "+o.Signature+";\n")
		case o.Kind == "trigger":
			add("code", id, strings.Replace(sql, "create trigger", "create or replace trigger", 1))
		case o.Template == "inbox/dlq_view":
			add("dead letters", id, sql+grantSelect(o.Signature, s.Roles.Consumer))
		case o.Template == "inbox/stats_view":
			add("statistics", id, sql+grantSelect(o.Signature, s.Roles.Monitor))
		case trigger:
			add("code", id, strings.Replace(sql, "create function", "create or replace function", 1))
			add("drop trigger functions", id, dropIfExists(o.Drop))
		default:
			add("code", id, sql)
		}
		if !trigger && (o.Kind == "function" || o.Kind == "view") {
			add("drop code", id, dropIfExists(o.Drop))
		}
	}
	if kind.Priority != nil {
		add("drop code", "tiers", "/*~=v_untier~*/\n") // first, as they read what else goes
	}
	return parts
}

// grantSelect lets a role read a view.
func grantSelect(view, role string) string {
	if role == "" {
		return ""
	}
	return sqltext.Wrap("grant select on " + view + " to " + sqltext.Ident(role) + ";\n")
}

// grantSequence lets a role move a sequence.
func grantSequence(sequence, role string) string {
	if role == "" {
		return ""
	}
	return sqltext.Wrap("grant select, update on sequence " + sequence + " to " + sqltext.Ident(role) + ";\n")
}

// dropIfExists drops what may be gone.
func dropIfExists(drop string) string {
	words := strings.SplitN(drop, " ", 3)
	return words[0] + " " + words[1] + " if exists " + words[2]
}
