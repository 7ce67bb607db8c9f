package objects

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// dropOwn drops a table or view, if the extension made it, as it made all in its internal schema.
func dropOwn(view render.Extension, name render.Name) string {
	if name.Schema == view.InternalName {
		return fmt.Sprintf("drop table if exists %s;\n", name)
	}
	return fmt.Sprintf("select %s.pgt_drop_own(%s);\n", view.Internal(), sqltext.Literal(name.String()))
}

// dropStores is dropOwn of each table that holds the rows of a stream table.
func dropStores(view render.Extension, t render.StreamTable) (drop string) {
	for _, table := range t.Stores() {
		drop += dropOwn(view, table)
	}
	return drop
}
