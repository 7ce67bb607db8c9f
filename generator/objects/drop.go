package objects

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// dropOwn drops a table or view, if the extension made it, as it made all in its internal schema: a view is known by the tables that it is over, too.
func dropOwn(view render.Extension, name render.Name, over ...render.Name) string {
	if name.Schema == view.InternalName {
		return fmt.Sprintf("drop table if exists %s;\n", name)
	}
	arguments := sqltext.Literal(name.String())
	for _, table := range over {
		arguments += ", " + sqltext.Literal(table.String())
	}
	return fmt.Sprintf("select %s.pgt_drop_own(%s);\n", view.Internal(), arguments)
}

// dropStores is dropOwn of each table that holds the rows of a stream table.
func dropStores(view render.Extension, t render.StreamTable) (drop string) {
	for _, table := range t.Stores() {
		drop += dropOwn(view, table)
	}
	return drop
}
