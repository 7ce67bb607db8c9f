package verify

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Finding is what plpgsql_check has to say about a line of a function.
type Finding struct {
	Function string // signature
	Table    string // of the trigger, for trigger functions
	Line     int
	Level    string // error, warning, performance, security, …
	SQLState string
	Message  string
	Detail   string
	Hint     string
	Query    string
}

// String writes a finding on one line, with its query below.
func (f Finding) String() string {
	where := f.Function
	if f.Table != "" {
		where += " on " + f.Table
	}
	text := fmt.Sprintf("%s line %d: %s (%s): %s", where, f.Line, f.Level, f.SQLState, f.Message)
	for _, more := range []struct{ name, text string }{{"DETAIL", f.Detail}, {"HINT", f.Hint}, {"QUERY", f.Query}} {
		if more.text != "" {
			text += "\n" + more.name + ": " + more.text
		}
	}
	return text
}

//go:embed sql/findings.sql
var findingsSQL string

// Findings runs plpgsql_check, which is installed in schema plpgsql_check, with all warnings over the functions of schemas.
func Findings(ctx context.Context, tx pgx.Tx, schemas ...string) ([]Finding, error) {
	// It plans statements that read stream tables, which are not filled.
	if _, err := tx.Exec(ctx, "set local check_function_bodies = off"); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, findingsSQL, schemas)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Finding])
}
