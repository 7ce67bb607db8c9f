package commands

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// A role that may not create schemas gets an error that says why it must; nothing that is created for the comparison stays.
func TestDiffMakesNothing(t *testing.T) {
	db := installed.ShopDB(t)
	db.SuperExec(t, "create role drift_reader login")
	defer db.SuperExec(t, "drop owned by drift_reader; drop role drift_reader")
	db.Exec(t, "grant usage on schema pgtrickle, pgtrickle_internal to drift_reader; grant select on pgtrickle.pgt_extension to drift_reader")
	var out, talk bytes.Buffer
	status := commandtest.Main([]string{"diff", "-f", installed.Shop(), "--dsn", db.Server.DSN(db.Name, "user=drift_reader")}, strings.NewReader(""), &out, &talk)
	if status != 3 || !strings.Contains(talk.String(), "that needs the right to create one") {
		t.Errorf("exit status %d: %s", status, talk.String())
	}
	const count = "select (select count(*) from pg_class)::int + (select count(*) from pg_proc)::int + (select count(*) from pg_namespace)::int"
	before := pgtest.One[int](t, db, count)
	sluice(t, "diff", "--dsn", db.DSN())
	if after := pgtest.One[int](t, db, count); after != before {
		t.Errorf("%d objects before, %d after", before, after)
	}
}

// What a database prints as its owner likes is read all the same.
func TestOtherSettings(t *testing.T) {
	db := installed.ShopDB(t)
	for _, setting := range []string{"quote_all_identifiers = on", "datestyle = 'SQL, DMY'", "standard_conforming_strings = off", "search_path = nowhere", "check_function_bodies = off"} {
		db.SuperExec(t, "alter database "+db.Name+" set "+setting)
	}
	if said, _ := sluice(t, "diff", "--dsn", db.DSN()); !strings.Contains(said, "is as it was installed") {
		t.Errorf("diff says: %s", said)
	}
	if _, said := sluice(t, "apply", "--dsn", db.DSN()); !strings.Contains(said, "nothing to do") {
		t.Errorf("apply says: %s", said)
	}
	sluice(t, "status", "--dsn", db.DSN())
}
