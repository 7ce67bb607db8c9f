package upgrade

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// deleteRow removes a row that a script inserted, found by its first column, which is its table's key.
func (d *differ) deleteRow(o Object) string {
	row, ok := sqltext.DescribeInsert(o.SQL)
	if !ok || d.dropped["table "+row.Table] {
		return ""
	}
	return fmt.Sprintf("delete from %s where %s = %s;\n", row.Table, sqltext.Ident(row.Columns[0]), row.Values[0])
}

// upsert brings a row up to date and leaves columns alone that the script does not name.
func upsert(o Object) string {
	row, ok := sqltext.DescribeInsert(o.SQL)
	if !ok {
		return o.SQL
	}
	sql := strings.TrimSuffix(strings.TrimSpace(o.SQL), ";")
	var sets []string
	for _, column := range row.Columns[1:] {
		name := sqltext.Ident(column)
		sets = append(sets, name+" = excluded."+name)
	}
	if len(sets) == 0 {
		return fmt.Sprintf("%s\non conflict (%s) do nothing;\n", sql, sqltext.Ident(row.Columns[0]))
	}
	return fmt.Sprintf("%s\non conflict (%s) do update\n    set %s;\n", sql, sqltext.Ident(row.Columns[0]), strings.Join(sets, ",\n        "))
}

// revoked takes back what a script granted to a role, from the objects that are still there.
func revoked(o Object, gone func(id string) bool) string {
	role, object, toAll := strings.Cut(o.Signature, ": ")
	if role == "nobody" || toAll && object == "" {
		return "" // it took a right away
	}
	var out strings.Builder
	for _, need := range o.Needs {
		kind, name, _ := strings.Cut(need, " ")
		switch kind {
		case "view":
			kind = "table"
		case "table", "sequence", "function", "schema":
		default:
			continue
		}
		if !gone(need) {
			fmt.Fprintf(&out, "revoke all on %s %s from %s;\n", kind, name, role)
		}
	}
	return out.String()
}
