package oracle

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// The refresh modes that are tested.
const (
	Immediate    = "immediate"
	Differential = "differential"
	AtCommit     = "at_commit"
	Mixed        = "mixed" // every other stream table is in mode at_commit, the others in differential mode; all are refreshed
	Auto         = "auto"  // like differential, and recomputed where that does not go
)

// Subject keeps relations equal to queries.
type Subject interface {
	// Install makes the stream tables of a case, in a database that has the tables of schemaDDL, with rows. The error Unsupported
	// is no failure: nothing is installed then, and it is called again without those views.
	Install(ctx context.Context, conn *pgx.Conn, schemaDDL string, views []View, mode string) error
	// Refresh brings a stream table up to date. It is called after those of the views that the view reads, within a
	// transaction or not, and not at all in the modes immediate and at_commit.
	Refresh(ctx context.Context, conn *pgx.Conn, view string) error
	// Relation is what to compare with the query, as SQL names it.
	Relation(view string) string
}

// View is the definition of a stream table.
type View struct {
	Name  string
	Query string      // what a user would write
	Reads []string    // the other views that it reads as stream tables
	Tree  *cases.View // the query in pieces, for subjects that are tests of the oracle
}

// Unsupported is the error of a subject that does not keep some views, with the reason for each.
type Unsupported map[string]string

func (u Unsupported) Error() string {
	var lines []string
	for view, reason := range u {
		lines = append(lines, fmt.Sprintf("%s: unsupported: %s", view, reason))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
