package pgtest

import (
	"os"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Finding is what plpgsql_check has to say about a line of a function.
type Finding = commandtest.Finding

// Findings runs plpgsql_check, all warnings on, over the plpgsql functions of a
// schema, given as SQL writes its name. It leaves nothing in the database.
func Findings(t testing.TB, db *Database, schema string) []Finding {
	t.Helper()
	if !db.Server.HasLibrary("plpgsql_check") {
		return noChecker(t, db)
	}
	tx, err := Connect(t, db.SuperDSN()).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), "create schema plpgsql_check; create extension plpgsql_check schema plpgsql_check"); err != nil {
		t.Fatal(err)
	}
	name := sqltext.Unquoted(schema)
	findings, err := commandtest.Findings(t.Context(), tx, name, generator.InternalSchema(name))
	if err != nil {
		t.Fatal(ErrorText(err))
	}
	return findings
}

// noChecker fails the test on the default server. The matrix runs also on
// servers that plpgsql_check is not packaged for, and make test-fast says that it
// does not run what is missing.
func noChecker(t testing.TB, db *Database) []Finding {
	t.Helper()
	if os.Getenv("SLUICE_TEST_PG") == "" && os.Getenv("SLUICE_TEST_FAST") == "" {
		t.Fatalf("plpgsql_check not found: install postgresql-%d-plpgsql-check", db.Server.Major)
	}
	t.Logf("PostgreSQL %s has no plpgsql_check here: functions not checked", db.Server.Version)
	return nil
}

// CheckPlpgsql fails the test for each of Findings.
func CheckPlpgsql(t testing.TB, db *Database, schema string) {
	t.Helper()
	for _, finding := range Findings(t, db, schema) {
		t.Error(finding)
	}
}
