package upgrade

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// createdStreamTables is the kind of what stands for the stream tables that a function created, which only the database knows.
const createdStreamTables = "created stream tables"

// CreatedStreamTables describes the stream tables that functions of a version create at run time. attach() gives them the functions of a new version. A version
// without such functions takes no database that has such stream tables.
func CreatedStreamTables(extension, internal string) Made {
	return Made{Kind: createdStreamTables, Name: extension, Drop: fmt.Sprintf(`do $do$
begin
    if exists (select from %[1]s) then
        raise exception using errcode = '55000', message = %[2]s,
            detail = (select string_agg(c.stream_table, ', ' order by c.no) from %[1]s c),
            hint = 'Drop them by drop_stream_table, put them into the spec ("sluice spec pull" writes them), or keep the functions: imperative: [stream_tables].';
    end if;
end;
$do$;
`, sqltext.Qualified(internal, "pgt_created_stream_tables"),
		sqltext.Literal("extension "+extension+" has stream tables that create_stream_table made, and the new version has no such function"))}
}

// CreatesStreamTables reports whether functions of a version create stream tables at run time.
func (m Manifest) CreatesStreamTables() bool {
	return slices.ContainsFunc(m.Made, func(made Made) bool { return made.Kind == createdStreamTables })
}

// adoptable are the stream tables of the spec that are new, and that functions may have created.
func (d *differ) adoptable() (names []string) {
	for _, n := range d.to.Named {
		if _, was := identifiedAs(d.from.Named, n.identity()); d.from.CreatesStreamTables() && n.Kind == "stream table" && !was {
			names = append(names, n.Name)
		}
	}
	return names
}

// adoptStreamTables has new stream tables of the spec take the places of those of their names that functions created.
func (d *differ) adoptStreamTables() {
	for _, name := range d.adoptable() {
		d.add(Step{
			Action: "change", Object: "stream table " + name + ", if a function created it",
			SQL: fmt.Sprintf("select %s.pgt_remove_created(%s, true);\n", sqltext.Ident(d.from.Internal), sqltext.Literal(name)),
		})
	}
}

// fillAdopted has attach() make and fill at once those that are not filled beside the rows that users see.
func (d *differ) fillAdopted() {
	for _, name := range d.adoptable() {
		at := slices.IndexFunc(d.to.Made, func(m Made) bool { return m.Kind == "stream table" && m.Name == name })
		if at < 0 || d.to.Made[at].Beside {
			continue
		}
		d.add(Step{
			Action: "change", Object: "rows of stream table " + name + ", if a function created it",
			SQL: fmt.Sprintf("update %[1]s s set remake = true from %[2]s c where s.stream_table = %[3]s and c.stream_table = s.stream_table and to_regclass(c.old_rows_table) is not null;\n",
				sqltext.Qualified(d.to.Internal, "pgt_stream_table_state"), sqltext.Qualified(d.to.Internal, "pgt_stream_table_config"), sqltext.Literal(name)),
		})
	}
}
