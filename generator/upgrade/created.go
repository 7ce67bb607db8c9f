package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// createdInboxes is the kind of what stands for the inboxes that a function created, which only the database knows.
const createdInboxes = "created inboxes"

// Created describes the inboxes that functions of a version create at run time; code changes with their functions and views. An upgrade drops these where
// they change, and attach() creates them again. A version without such functions takes no database that has such inboxes.
func Created(extension, schema, internal, code string) []Made {
	config := sqltext.Qualified(schema, "pgt_inbox_config")
	return []Made{
		{Kind: "functions of created inboxes", Name: digestOf(code)[:12], Drop: fmt.Sprintf("select %s.pgt_inbox_script(c.inbox_name, 'drop code') from %s c where c.is_imperative;\n", sqltext.Ident(internal), config)},
		{Kind: createdInboxes, Name: extension, First: []string{"", "created inboxes"}, Drop: fmt.Sprintf(`do $do$
begin
    if exists (select from %[1]s c where c.is_imperative) then
        raise exception using errcode = '55000', message = %[2]s,
            detail = (select string_agg(c.inbox_name, ', ' order by c.inbox_name) from %[1]s c where c.is_imperative),
            hint = 'Drop them by drop_inbox, or put them into the spec: "sluice spec pull" writes them.';
    end if;
end;
$do$;
`, config, sqltext.Literal("extension "+extension+" has inboxes that create_inbox or enable_inbox_tracking made, and the new version has no imperative functions"))},
	}
}

// CreatesInboxes reports whether functions of a version create inboxes at run time.
func (m Manifest) CreatesInboxes() bool {
	return slices.ContainsFunc(m.Made, func(made Made) bool { return made.Kind == createdInboxes })
}

// CreatedTables is a query for the tables, as SQL, that functions created with inboxes; empty if none do.
func (m Manifest) CreatedTables() string {
	if !m.CreatesInboxes() {
		return ""
	}
	return fmt.Sprintf("select format('%%I.%%I', c.inbox_schema, c.inbox_table) from %s c where c.is_imperative and c.is_managed order by c.inbox_name", sqltext.Qualified(m.Schema, "pgt_inbox_config"))
}

// adopt has new inboxes of the spec take over the tables of inboxes of their names that functions created.
func (d *differ) adopt() {
	if !d.from.CreatesInboxes() {
		return
	}
	for _, n := range d.to.Named {
		if _, was := identifiedAs(d.from.Named, n.identity()); was || n.Kind != "inbox" {
			continue
		}
		schema, columns, over := "null", "null", "null"
		if at := slices.IndexFunc(d.to.Made, func(m Made) bool { return m.Kind == "inbox table" && strings.HasPrefix(m.Name, n.Name+" on ") }); at >= 0 {
			over = sqltext.Literal(strings.TrimPrefix(d.to.Made[at].Name, n.Name+" on "))
		}
		if at := slices.IndexFunc(d.to.Objects, func(o Object) bool { return o.Kind == "table" && o.Of == "inbox "+n.Name }); at >= 0 {
			table := d.to.Objects[at]
			if r, ok := sqltext.ParseRelation(table.Signature); ok && r.Name == n.Name {
				d.adopted[table.identity()] = true
				schema = sqltext.Literal(r.Schema)
				if !strings.Contains(table.SQL, " generated always as ") {
					columns = textArray(columnNames(table))
				}
			}
		}
		d.add(Step{
			Action: "change", Object: "inbox " + n.Name + ", if a function created it",
			SQL: d.forgetOrder(n.Name) + fmt.Sprintf("select %s.pgt_adopt_inbox(%s, %s, %s, %s);\n", sqltext.Ident(d.from.Internal), sqltext.Literal(n.Name), schema, columns, over),
		})
	}
}

// forgetOrder forgets which numbers of an inbox that a function ordered are processed, unless the spec orders it alike.
func (d *differ) forgetOrder(inbox string) string {
	config, sequences := sqltext.Qualified(d.from.Schema, "pgt_inbox_ordering_config"), sqltext.Qualified(d.from.Internal, "pgt_inbox_sequences")
	if !slices.ContainsFunc(d.from.Objects, func(o Object) bool { return o.Kind == "table" && o.Signature == config }) {
		return "" // of a version that could not order it
	}
	columns := []string{"null", "null"}
	if at := slices.IndexFunc(d.to.Objects, func(o Object) bool { return o.Kind == "row" && o.Signature == "pgt_inbox_ordering_config: "+inbox }); at >= 0 {
		if row, ok := sqltext.DescribeInsert(d.to.Objects[at].SQL); ok {
			for n, column := range []string{"aggregate_column", "sequence_column"} {
				columns[n] = row.Values[slices.Index(row.Columns, column)]
			}
		}
	}
	return fmt.Sprintf("delete from %s s\nusing %s o\nwhere o.inbox_name = %s and s.inbox_name = o.inbox_name\n  and (o.aggregate_column is distinct from %s or o.sequence_column is distinct from %s);\n",
		sequences, config, sqltext.Literal(inbox), columns[0], columns[1])
}

// orThere has the table and the order index of an inbox that may be adopted created only where they are missing.
func (d *differ) orThere(o Object) Object {
	switch {
	case o.Kind == "table" && d.adopted[o.identity()]:
		o.SQL = strings.Replace(o.SQL, "create table ", "create table if not exists ", 1)
	case o.Kind == "index" && d.adopted[d.tableOf(o)]:
		o.SQL = strings.Replace(o.SQL, "create index ", "create index if not exists ", 1)
	}
	return o
}

// recount counts the messages of inboxes that may be adopted.
func (d *differ) recount() {
	for _, n := range d.to.Named {
		if _, was := identifiedAs(d.from.Named, n.identity()); d.from.CreatesInboxes() && n.Kind == "inbox" && !was {
			d.add(Step{
				Action: "change", Object: "counts of inbox " + n.Name,
				SQL: fmt.Sprintf("select %s.pgt_inbox_rebuild(%s);\n", sqltext.Ident(d.to.Internal), sqltext.Literal(n.Name)),
			})
		}
	}
}

func textArray(names []string) string {
	items := make([]string, len(names))
	for n, name := range names {
		items[n] = sqltext.Literal(name)
	}
	return "array[" + strings.Join(items, ", ") + "]::name[]"
}
