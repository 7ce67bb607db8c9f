package render

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Guard refuses a statement or commit whose stream table cannot be maintained, as a table that it reads was altered.
type Guard struct {
	StreamTable
	Checks []string // conditions that raise an error where columns were altered
	Tables []Name   // that must exist
	Own    Name     // the table of the trigger, which is one of them; none outside of its function
}

// Guard is that of a statement on a table.
func (s Step) Guard() Guard {
	g := s.StreamTable.Guard()
	g.Own = s.Of.Table
	return g
}

// Guard is that of a function that applies changes.
func (t StreamTable) Guard() Guard {
	g := Guard{StreamTable: t}
	require := func(s Source, check string) {
		if s.Made {
			return
		}
		g.Tables = append(g.Tables, s.Table)
		if check != "" {
			g.Checks = append(g.Checks, check)
		}
	}
	for _, p := range t.Pending {
		require(p.Source, p.Checked())
	}
	if !t.Immediate {
		for _, l := range t.Logs {
			require(l, l.CheckedLog())
		}
	}
	return g
}

// Missing is the condition that a table does not exist. The table of the trigger does, unless it was renamed or moved, and looking up a name takes a microsecond.
func (g Guard) Missing() string {
	var missing []string
	for _, table := range g.Tables {
		condition := fmt.Sprintf("to_regclass(%s) is null", sqltext.Literal(table.String()))
		if table == g.Own {
			condition = fmt.Sprintf("(tg_table_name <> %s or tg_table_schema <> %s) and %s", sqltext.Literal(table.Name), sqltext.Literal(table.Schema), condition)
		}
		missing = append(missing, condition)
	}
	return strings.Join(missing, " or ")
}

// Fits is the condition that no column was altered; empty if none is read.
func (g Guard) Fits() string { return strings.Join(g.Checks, " and ") }

// SQL is the guard as part of a function; empty if the stream table reads others only.
func (g Guard) SQL() string {
	if len(g.Tables) == 0 {
		return ""
	}
	return piece("guard", g)
}
