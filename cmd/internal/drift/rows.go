package drift

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// catalogRow is a row that a script inserts.
type catalogRow struct {
	sqltext.InsertedRow
	object upgrade.Object
	key    []string // columns that find it; none where the table has no key
}

// compareRows compares the rows that scripts insert into the catalog, in the columns that they name.
func (c *comparison) compareRows() error {
	tables := map[string][]map[string]any{}
	for _, o := range c.m.Objects {
		row, ok := c.catalogRow(o)
		if !ok || c.have[key{"table " + row.Table, existence}].Object == "" || c.others["table "+row.Table] {
			continue
		}
		there, read := tables[row.Table]
		if !read {
			rows, err := c.tx.Query(c.ctx, "select to_jsonb(t) from "+row.Table+" t")
			if err == nil {
				there, err = pgx.CollectRows(rows, pgx.RowTo[map[string]any])
			}
			if err != nil {
				return err
			}
			tables[row.Table] = there
		}
		c.compareRow(row, there)
	}
	return nil
}

func (c *comparison) catalogRow(o upgrade.Object) (catalogRow, bool) {
	if o.Kind != "row" {
		return catalogRow{}, false
	}
	inserted, ok := sqltext.DescribeInsert(o.SQL)
	n, known := c.order["table "+inserted.Table]
	if !ok || !known {
		return catalogRow{}, false
	}
	definition, err := sqltext.DefineTable(c.m.Objects[n].SQL)
	if err != nil {
		panic(fmt.Sprintf("drift: %v", err)) // was checked when it was generated
	}
	return catalogRow{inserted, o, definition.Key}, true
}

func (c *comparison) compareRow(row catalogRow, there []map[string]any) {
	d := Difference{Object: row.object.ID(), What: Missing, repair: []string{row.object.SQL}}
	if len(row.key) == 0 {
		if len(there) == 0 {
			c.found = append(c.found, d)
		}
		return
	}
	want, err := c.asInserted(row)
	if err != nil {
		return // its table cannot be compared, which is reported
	}
	at := slices.IndexFunc(there, func(have map[string]any) bool { return len(differing(row.key, want, have)) == 0 })
	if at < 0 {
		c.found = append(c.found, d)
		return
	}
	for _, column := range differing(row.Columns, want, there[at]) {
		c.found = append(c.found, Difference{
			Object: d.Object, Aspect: "column " + sqltext.Ident(column), What: Differs,
			Want: fmt.Sprint(want[column]), Have: fmt.Sprint(there[at][column]), repair: []string{row.update(column)},
		})
	}
}

func differing(columns []string, a, b map[string]any) (differ []string) {
	for _, column := range columns {
		if !reflect.DeepEqual(a[column], b[column]) {
			differ = append(differ, column)
		}
	}
	return differ
}

// asInserted is the row as the server stores it, in the shadow of its table.
func (c *comparison) asInserted(row catalogRow) (stored map[string]any, err error) {
	table, _ := sqltext.ParseRelation(row.Table)
	sql := strings.TrimSuffix(strings.TrimSpace(sqltext.Move(row.object.SQL, c.shadows.own)), ";")
	err = pgx.BeginFunc(c.ctx, c.tx, func(tx pgx.Tx) error {
		return tx.QueryRow(c.ctx, sql+" returning to_jsonb("+sqltext.Ident(table.Name)+".*)").Scan(&stored)
	})
	return stored, err
}

// update sets one column as the script has it.
func (row catalogRow) update(column string) string {
	value := func(name string) string { return row.Values[slices.Index(row.Columns, name)] }
	var conds []string
	for _, name := range row.key {
		conds = append(conds, sqltext.Ident(name)+" = "+value(name))
	}
	return fmt.Sprintf("update %s set %s = %s where %s", row.Table, sqltext.Ident(column), value(column), strings.Join(conds, " and "))
}
