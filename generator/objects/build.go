package objects

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/parallel"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// builder collects objects in creation order and the problems that only show once all names are known.
type builder struct {
	objects  []upgrade.Object
	places   map[string]Origin // by name space, then name
	mark     string            // of the extension, in comments
	internal string            // schema, whose objects are known by it and have no comments
	origins  map[string]Origin // of names that others may have, by kind and name
	errs     *diag.List
	at       Origin // what is being built
	checks   *parallel.Checks
}

// Origin is the part of a spec that an object comes from.
type Origin struct {
	What string
	of   string // what the spec names that it belongs to; empty if all share it
	pos  diag.Pos
	Name diag.Pos // where its name stands
}

// from is the origin of the objects of a part of the spec.
func from(what string, place spec.Place) Origin {
	return Origin{What: what, of: what, pos: place.At, Name: place.Field("name")}
}

// named is the name at the end of what the objects belong to.
func (o Origin) named() sqltext.Named {
	return sqltext.Named{Name: o.of[strings.LastIndexByte(o.of, ' ')+1:]}
}

type option func(*upgrade.Object)

func dumped(o *upgrade.Object) { o.Dump = true }

// dumpedWhere has a dump of the extension keep some rows.
func dumpedWhere(condition string) option {
	return func(o *upgrade.Object) { o.Dump, o.DumpWhere = true, condition }
}

func holds(o *upgrade.Object) { o.Dump, o.Holds = true, true }

// attached marks a view that attach() replaces by one over a table of users.
func attached(o *upgrade.Object) { o.Attached = true }

// goesWithTable marks an object that is dropped with its table.
func goesWithTable(o *upgrade.Object) { o.Drop = "" }

// resumes sets the statement by which a sequence that was lost continues behind its last number.
func resumes(sql string) option { return func(o *upgrade.Object) { o.Resume = sql } }

// withoutDefault takes a sequence from a column before it is dropped.
func withoutDefault(table render.Name, column string) option {
	return func(o *upgrade.Object) {
		o.Drop = fmt.Sprintf("alter table if exists %s alter column %s drop default;\n", table, sqltext.Ident(column)) + o.Drop
	}
}

// fires sets for which changes a trigger fires: always, or replica for those that logical replication applies only.
func fires(when string) option {
	return func(o *upgrade.Object) {
		trigger, table, _ := strings.Cut(o.Signature, " on ")
		o.SQL += fmt.Sprintf("alter table %s enable %s trigger %s;\n", table, when, trigger)
	}
}

// part is a template with its data.
type part struct {
	template string
	data     any
}

// created is the one statement that a part renders.
type created struct {
	part
	sql string
	of  sqltext.Created
}

// create renders a part of no object that a spec names. What it creates is read from the statement itself.
func (p part) create() created { return p.createNamed(sqltext.Named{}) }

func (p part) createNamed(named sqltext.Named) created {
	sql := render.Must(p.template, p.data)
	of, err := named.Describe(sql)
	if err != nil || of.Kind == "" {
		panic(fmt.Sprintf("template %s does not create one object: %v\n%s", p.template, err, sql))
	}
	return created{p, sql, of}
}

// addTask adds the row of a task of tick.
func (b *builder) addTask(schemas render.Schemas, task, section string) {
	b.addStatement("row", "pgt_tasks: "+task, "catalog/pgt_task_row.sql", render.Task{Schemas: schemas, Task: task}, "", within(section))
}

// add renders one template into one object.
func (b *builder) add(template string, data any, options ...option) {
	b.addCreated(part{template, data}.createNamed(b.at.named()), options...)
}

func (b *builder) addCreated(c created, options ...option) {
	b.check(c.template, c.sql, c.of.CheckBody)
	o := upgrade.Object{
		Kind: c.of.Kind, Signature: c.of.Signature(), SQL: c.sql, Comment: c.comment(b.mark, b.internal), Drop: dropSQL(c.of.Statement),
		Template: strings.TrimSuffix(c.template, ".sql"), Section: sectionOf(c.data),
	}
	view, shared := c.data.(render.Extension)
	if o.Shared = shared; shared {
		keepRows(&o, c, view)
	}
	b.claimName(c.of.Statement)
	b.push(o, options)
	if definer(c.sql) {
		b.revoke(c) // firing a trigger needs no EXECUTE privilege: it stops users from attaching this function to their own tables
	}
}

// comment is the one in the catalog, with the extension's mark. Indexes and triggers are known by their tables and functions, and have none, like what is in
// the internal schema.
func (c created) comment(mark, internal string) string {
	if c.of.Kind == "index" || c.of.Kind == "trigger" || c.of.Schema == internal {
		return ""
	}
	return sqltext.Marked(summary(Header(c.sql)), mark)
}

// Standard is what makes an object under the names that it has in files: those of the runtime are the same for everyone.
func Standard(o upgrade.Object, view render.Extension) string {
	if !o.Shared {
		return o.Create(false)
	}
	under := view.Standard()
	c := part{o.Template + ".sql", under}.create()
	o = upgrade.Object{Kind: c.of.Kind, Signature: c.of.Signature(), SQL: c.sql, Comment: c.comment(under.Mark(), under.InternalName)}
	return o.Create(false)
}

// revoke takes the right to call a function from everybody but its owner.
func (b *builder) revoke(c created) {
	b.push(upgrade.Object{
		Kind: "grant", Signature: "nobody: " + c.of.Signature(),
		SQL: "revoke execute on function " + c.of.Signature() + " from public;\n", Section: sectionOf(c.data),
	}, nil)
}

// summary is a header's first sentence, without what follows a colon or semicolon: enough for \df+ and \d+, and mostly one line of a script.
func summary(header string) string {
	for _, end := range []string{". ", ": ", "; "} {
		header, _, _ = strings.Cut(header, end)
	}
	return strings.TrimSuffix(header, ".") + "."
}

// definer reports whether a trigger function runs with its owner's rights.
func definer(sql string) bool {
	return strings.Contains(sql, "\n    returns trigger\n") && strings.Contains(sql, "\n    security definer\n")
}

// addStatement renders a template whose statement creates no object that the parser could name.
func (b *builder) addStatement(kind, signature, template string, data any, drop string, options ...option) {
	sql := b.render(template, data)
	b.push(upgrade.Object{
		Kind: kind, Signature: signature, SQL: sql, Drop: drop, Template: strings.TrimSuffix(template, ".sql"), Section: sectionOf(data),
	}, options)
}

func (b *builder) push(o upgrade.Object, options []option) {
	if !o.Shared {
		o.Of = b.at.of
	}
	for _, set := range options {
		set(&o)
	}
	b.objects = append(b.objects, o)
	if kind, schema, name, ok := NameOf(o); ok {
		b.origins[kind+" "+sqltext.Qualified(schema, name)] = b.at
	}
}

// hidden takes a function from everybody. Its signature stays in one line, by which it is found.
func hidden(signature string) string {
	sql := "revoke execute on function " + signature + " from public;\n"
	if len(sql) > sqltext.LineWidth {
		sql = "revoke execute\n    on function " + signature + "\n    from public;\n"
	}
	return sql
}

// render executes a template and starts a check of the SQL.
func (b *builder) render(template string, data any) string {
	sql := render.Must(template, data)
	named := b.at.named()
	b.check(template, sql, func() error { return named.Check(sql) })
	return sql
}

// check starts a check whose result checked waits for.
func (b *builder) check(template, sql string, check func() error) {
	b.checks.Begin(func() error {
		if err := check(); err != nil {
			return fmt.Errorf("template %s: %w\n%s", template, err, sql)
		}
		return nil
	})
}

// checked waits for all checks. Wrong SQL is a bug in a template and panics.
func (b *builder) checked() {
	if err := b.checks.Wait(); err != nil {
		panic(err)
	}
}

// claimName reports a name that two parts of a spec would both create.
func (b *builder) claimName(created sqltext.Statement) {
	space := "relation"
	switch created.Kind {
	case "function", "procedure", "trigger", "schema":
		space = created.Kind
	}
	key := space + " " + created.Signature()
	if first, taken := b.places[key]; taken {
		b.errs.Add(nameClash(b.at, first, created))
		return
	}
	b.places[key] = b.at
	if space == "relation" {
		b.origins[key] = b.at
	}
}

func dropSQL(created sqltext.Statement) string {
	switch created.Kind {
	case "index": // goes with its table
		return ""
	default:
		return sqltext.Wrap("drop " + created.Kind + " " + created.Signature() + ";\n")
	}
}

// Header returns the first paragraph of an object's leading comment, without what it reads and writes. Its first sentence documents the object in the catalog, too.
func Header(sql string) string {
	var lines []string
	for _, line := range strings.Split(sql, "\n") {
		text, isComment := strings.CutPrefix(line, "--")
		text = strings.TrimSpace(text)
		if !isComment || text == "" || strings.HasPrefix(text, "Reads ") || strings.HasPrefix(text, "Writes ") || strings.HasPrefix(text, "From ") {
			break
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, " ")
}

// NameOf returns the name of an object for checks against objects of others. Triggers and constraints have none, because their tables are new.
func NameOf(o upgrade.Object) (kind, schema, name string, ok bool) {
	switch o.Kind {
	case "table", "view", "sequence", "index":
		kind = "relation"
	case "function", "procedure":
		kind = "routine"
	default:
		return "", "", "", false
	}
	signature, _, _ := strings.Cut(o.Signature, "(")
	r, ok := sqltext.ParseRelation(signature)
	return kind, r.Schema, r.Name, ok
}
