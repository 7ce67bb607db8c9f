package pgtest

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

const deadlockDetected = "40P01"

// ErrorText writes an error of the server as "ERROR (SQLSTATE): message", with
// lines for detail and hint, and any other error as it is. The detail of a
// deadlock, which differs from run to run, is left out.
func ErrorText(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return "ERROR: " + err.Error()
	}
	detail := pg.Detail
	if pg.Code == deadlockDetected {
		detail = ""
	}
	return fmt.Sprintf("%s (%s): %s", pg.Severity, pg.Code, pg.Message) + more(detail, pg.Hint)
}

// NoticeText writes a message of the server as "NOTICE: message", with lines
// for detail and hint.
func NoticeText(n *pgconn.Notice) string {
	return n.Severity + ": " + n.Message + more(n.Detail, n.Hint)
}

func more(detail, hint string) string {
	var b strings.Builder
	if detail != "" {
		b.WriteString("\nDETAIL: " + detail)
	}
	if hint != "" {
		b.WriteString("\nHINT: " + hint)
	}
	return b.String()
}

// Table is the result of a query, to be written for people.
type Table struct {
	Names []string
	Right []bool // columns of numbers stand at the right
	Rows  [][]string
}

// numeric are the types that psql, too, puts at the right.
var numeric = map[uint32]bool{
	pgtype.Int2OID: true, pgtype.Int4OID: true, pgtype.Int8OID: true, pgtype.NumericOID: true,
	pgtype.Float4OID: true, pgtype.Float8OID: true, pgtype.OIDOID: true, pgtype.XIDOID: true,
}

func newTable(fields []pgconn.FieldDescription) Table {
	var table Table
	for _, field := range fields {
		table.Names = append(table.Names, field.Name)
		table.Right = append(table.Right, numeric[field.DataTypeOID])
	}
	return table
}

// String aligns the table as psql does, without space at the ends of lines.
func (t Table) String() string {
	widths := t.widths()
	var b strings.Builder
	b.WriteString(line(t.Names, widths, make([]bool, len(widths))))
	dashes := make([]string, len(widths))
	for i, width := range widths {
		dashes[i] = strings.Repeat("-", width)
	}
	b.WriteString(strings.Join(dashes, "-+-") + "\n")
	for _, row := range t.Rows {
		b.WriteString(line(row, widths, t.Right))
	}
	b.WriteString(plural(len(t.Rows)) + "\n")
	return b.String()
}

func (t Table) widths() []int {
	widths := make([]int, len(t.Names))
	for _, row := range append([][]string{t.Names}, t.Rows...) {
		for i, value := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(value))
		}
	}
	return widths
}

func line(values []string, widths []int, right []bool) string {
	cells := make([]string, len(values))
	for i, value := range values {
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(value))
		cells[i] = value + pad
		if right[i] {
			cells[i] = pad + value
		}
	}
	return strings.TrimRight(strings.Join(cells, " | "), " ") + "\n"
}

func plural(rows int) string {
	if rows == 1 {
		return "(1 row)"
	}
	return fmt.Sprintf("(%d rows)", rows)
}
