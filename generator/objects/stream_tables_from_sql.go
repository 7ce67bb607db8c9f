package objects

import (
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// streamTablesFromSQL adds the functions that create and drop stream tables at run time.
func (b *builder) streamTablesFromSQL(view render.Extension) {
	script := render.NewStreamTableScript(view)
	for _, name := range []string{"pgt_dotted_name", "pgt_created_names", "pgt_formatted", "pgt_query_reads", "pgt_forget_sources", "pgt_attach_created", "pgt_remove_created"} {
		b.add("imperative/"+name+".sql", script)
	}
	for _, name := range []string{"create_stream_table", "drop_stream_table"} {
		c := part{"imperative/" + name + ".sql", view}.create()
		b.addCreated(c)
		b.push(upgrade.Object{ // it creates and drops objects
			Kind: "grant", Signature: "nobody: " + c.of.Signature(),
			SQL: hidden(c.of.Signature()), Section: sectionOf(view),
		}, nil)
	}
}
