package naive

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/views/oracle"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// Deltas keeps views without groups, in immediate mode: when a table changes, it puts the changed rows where the query reads
// the table, and adds what comes out of the new ones and removes what comes out of the old ones. All other tables are read as
// they are then, which is wrong when one statement changes two of them.
type Deltas struct{ names }

// linear are the features of views whose changes are the sum of what the changes of each table make.
var linear = []string{
	"filter", "expression", "one table", "unqualified", "values", "inner join", "comma join", "cross join", "using", "natural join", "non-equi join", "or join",
	"nested join", "subquery", "null-safe join", "no table",
}

// Install implements oracle.Subject.
func (d Deltas) Install(ctx context.Context, conn *pgx.Conn, _ string, views []oracle.View, mode string) error {
	if mode != oracle.Immediate {
		return all(views, "only immediate mode")
	}
	if refused := d.refused(views); len(refused) > 0 {
		return refused
	}
	return inTransaction(ctx, conn, func() error {
		for _, v := range views {
			if err := run(ctx, conn, "create table "+v.Name+" as "+v.Query); err != nil {
				return err
			}
			columns, _, err := columnsOf(ctx, conn, v.Name)
			if err != nil {
				return err
			}
			if err := run(ctx, conn, d.triggers(v, columns)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d Deltas) refused(views []oracle.View) oracle.Unsupported {
	refused := oracle.Unsupported{}
	for _, v := range views {
		for _, f := range v.Tree.Features {
			if !slices.Contains(linear, f) {
				refused[v.Name] = f
			}
		}
		if len(tables(v.Tree)) < len(reads(v.Tree.Query)) {
			refused[v.Name] = "a table is read twice"
		}
		if hasJSON(v.Tree) {
			refused[v.Name] = "json has no equality"
		}
	}
	return refused
}

func hasJSON(v *cases.View) bool {
	for n := range v.Query.All() {
		if n.Sort == "json" {
			return true
		}
	}
	return false
}

func (d Deltas) triggers(v oracle.View, columns []string) string {
	sql := ""
	for i, place := range reads(v.Tree.Query) {
		table := tables(v.Tree)[i]
		name := fmt.Sprintf("oracle_%s_%d", v.Name, i)
		add := "insert into " + v.Name + " " + with(v.Tree.Query, place, "oracle_new") + ";\n"
		remove := removal(v.Name, columns, with(v.Tree.Query, place, "oracle_old"), alike)
		sql += trigger(name+"_insert", table, "insert", "referencing new table as oracle_new", columnsFirst, add) +
			trigger(name+"_update", table, "update", "referencing old table as oracle_old new table as oracle_new", columnsFirst, remove+add) +
			trigger(name+"_delete", table, "delete", "referencing old table as oracle_old", columnsFirst, remove) +
			trigger(name+"_truncate", table, "truncate", "", columnsFirst, "delete from "+v.Name+";\ninsert into "+v.Name+" "+v.Query+";\n")
	}
	return sql
}

// Refresh implements oracle.Subject.
func (Deltas) Refresh(context.Context, *pgx.Conn, string) error { return nil }
