package explain

import (
	"strings"

	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

func columnList(columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = sqltext.Ident(c)
	}
	return strings.Join(quoted, ", ")
}

// indexText is how to make an index: a statement, or for a stream table what to write in the spec.
func indexText(i ivm.Index) string {
	if i.Table.Kind == catalog.StreamTable {
		return "indexes: [[" + strings.Join(i.Columns, ", ") + "]] at stream table " + i.Table.Name
	}
	return "create index on " + i.Table.SQLName() + " (" + columnList(i.Columns) + ")"
}
