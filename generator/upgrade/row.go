package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// deleteRow removes a row that a script inserted, found by its table's key.
func (d *differ) deleteRow(o Object) string {
	row, ok := sqltext.DescribeInsert(o.SQL)
	if !ok || d.dropped["table "+row.Table] {
		return ""
	}
	var conds []string
	for _, column := range keyOf(d.old["table "+row.Table]) {
		conds = append(conds, sqltext.Ident(column)+" = "+row.Values[slices.Index(row.Columns, column)])
	}
	return fmt.Sprintf("delete from %s where %s;\n", row.Table, strings.Join(conds, " and "))
}

// changeRow sets the columns of a row that differ, and leaves those alone that the script does not name.
func (d *differ) changeRow(before, o Object) string {
	old, _ := sqltext.DescribeInsert(before.SQL)
	row, ok := sqltext.DescribeInsert(o.SQL)
	if !ok {
		return o.SQL
	}
	key := keyOf(d.new["table "+row.Table])
	if before.ID() != o.ID() && len(key) > 1 { // see renameValues
		return o.SQL
	}
	var conds, sets []string
	for n, column := range row.Columns {
		assigned := sqltext.Ident(column) + " = " + row.Values[n]
		place := slices.Index(old.Columns, column)
		switch {
		case slices.Contains(key, column):
			conds = append(conds, assigned)
		case place < 0 || old.Values[place] != row.Values[n]:
			sets = append(sets, assigned)
		}
	}
	if len(sets) == 0 {
		return ""
	}
	return sqltext.Wrap(fmt.Sprintf("update %s set\n    %s\nwhere %s;\n", row.Table, strings.Join(sets, ",\n    "), strings.Join(conds, " and ")))
}

// keyOf lists the columns of a table's primary key.
func keyOf(table Object) []string {
	definition, err := sqltext.DefineTable(table.SQL)
	if err != nil {
		panic(fmt.Sprintf("upgrade: %v\n%s", err, table.SQL)) // was checked when it was generated
	}
	return definition.Key
}

// revoked takes back what a script granted to a role, from the objects that are there: those of old before anything is renamed, those of new
// afterwards.
func (d *differ) revoked(o Object, there map[string]Object) string {
	role, object, toAll := strings.Cut(o.Signature, ": ")
	if role == "nobody" || toAll && object == "" {
		return "" // it took a right away
	}
	var out strings.Builder
	for _, need := range o.Needs {
		from, ok := there[need]
		kind := from.Kind
		switch kind {
		case "view":
			kind = "table"
		case "schema":
			ok = grantsSchema(o.SQL, from.Signature, role)
		case "table", "sequence", "function":
		default:
			continue
		}
		if ok {
			fmt.Fprintf(&out, "revoke all on %s %s from %s;\n", kind, from.Signature, role)
		}
	}
	return out.String()
}

// grantsSchema reports whether a script grants a role the use of a schema. That it holds the word alone says nothing: public is everybody, too, and a
// role may be called as a schema is.
func grantsSchema(sql, schema, role string) bool {
	_, rest, _ := strings.Cut(sql, "grant usage on schema ")
	schemas, _, granted := strings.Cut(rest, " to "+role+";")
	return granted && strings.Contains(", "+schemas+", ", ", "+schema+", ")
}
