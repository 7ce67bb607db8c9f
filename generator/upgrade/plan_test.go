package upgrade_test

import (
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator/upgrade"
)

func version(number string, objects ...upgrade.Object) upgrade.Manifest {
	return upgrade.NewManifest("mail", number, "s", "s_internal", nil, objects, nil)
}

func object(kind, signature, sql string, needs ...string) upgrade.Object {
	return upgrade.Object{Kind: kind, Signature: signature, SQL: sql, Drop: "drop " + kind + " " + signature + ";\n", Needs: needs}
}

// What no step is known for is refused rather than passed over.
func TestRefused(t *testing.T) {
	table := "create table s.t (a int primary key, b text);\n"
	for name, pair := range map[string][2]upgrade.Object{
		"another sequence":        {object("sequence", "s.n", "create sequence s.n;\n"), object("sequence", "s.n", "create sequence s.n as integer;\n")},
		"another key":             {object("table", "s.t", table), object("table", "s.t", "create table s.t (a int, b text primary key);\n")},
		"not null without values": {object("table", "s.t", table), object("table", "s.t", "create table s.t (a int primary key, b text, c int not null);\n")},
		"computed otherwise": {
			object("table", "s.t", "create table s.t (a int primary key, b int generated always as (a + 1) stored);\n"),
			object("table", "s.t", "create table s.t (a int primary key, b int generated always as (a + 2) stored);\n"),
		},
	} {
		if plan, err := upgrade.Derive(version("1.0.0", pair[0]), version("1.1.0", pair[1]), false); err == nil {
			t.Errorf("%s: no error, but\n%s", name, plan.Script())
		}
	}
	comment := object("sequence", "s.n", "-- Numbers.\ncreate sequence s.n;\n")
	if _, err := upgrade.Derive(version("1.0.0", object("sequence", "s.n", "create sequence s.n;\n")), version("1.1.0", comment), false); err != nil {
		t.Errorf("another comment: %v", err)
	}
}

// An index on a table that is there keeps writers waiting while it is built; one on a new table does not.
func TestLockOfIndex(t *testing.T) {
	table := object("table", "s.t", "create table s.t (a int primary key);\n")
	index := object("index", "s.i", "create index i on s.t (a);\n", "table s.t")
	for _, c := range []struct {
		from upgrade.Manifest
		want string
	}{
		{version("1.0.0", table), "SHARE on its table"},
		{version("1.0.0"), ""},
	} {
		plan, err := upgrade.Derive(c.from, version("1.1.0", table, index), false)
		if err != nil {
			t.Fatal(err)
		}
		last := plan.Steps[len(plan.Steps)-1]
		if last.Object != "index s.i" || !strings.HasPrefix(last.Lock, c.want) || c.want == "" && last.Lock != "" {
			t.Errorf("%s locks %q, want %q", last.Object, last.Lock, c.want)
		}
	}
}

// A grant that goes takes back what it gave, and not the use of a schema that is called as the role is.
func TestRevokedSchema(t *testing.T) {
	public, own := object("schema", "public", "do $do$ begin end; $do$;\n"), object("schema", "s", "do $do$ begin end; $do$;\n")
	table := object("table", "s.t", "create table s.t (a int primary key);\n")
	for _, c := range []struct {
		grant upgrade.Object
		want  string
	}{
		{object("grant", "public: s.t", "grant select on s.t to public;\n", public.ID(), table.ID()), "revoke all on table s.t from public;\n"},
		{object("grant", "app", "grant usage on schema s to app;\n", own.ID()), "revoke all on schema s from app;\n"},
		{object("grant", "s", "grant usage on schema public, app to s;\n", public.ID(), own.ID()), "revoke all on schema public from s;\n"},
	} {
		plan, err := upgrade.Derive(version("1.0.0", public, own, table, c.grant), version("1.1.0", public, own, table), false)
		if err != nil {
			t.Fatal(err)
		}
		if sql := plan.Steps[len(plan.Steps)-1].SQL; sql != c.want {
			t.Errorf("without %q: %q, want %q", c.grant.SQL, sql, c.want)
		}
	}
}
