package live

import (
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const (
	zoneDDL  = "create table visits (id int primary key, at timestamptz not null);"
	zoneSpec = `
version: 1
extension: {name: sluice_zones, version: 1.0.0, schema: app}
schema: [schema.sql]
stream_tables:
  - name: days
    refresh_mode: differential
    query: |
      SELECT date_trunc('day', at) AS day, min(at)::text AS first, count(*) AS n FROM visits GROUP BY 1
`
)

// TestTimeZoneStays applies, upgrades and repairs from sessions in other time zones and with another date style: the functions keep those of the first
// installation, by which the stored rows were computed.
func TestTimeZoneStays(t *testing.T) {
	first := installed.Over(t, zoneSpec, zoneDDL)
	released := []upgrade.Manifest{first.Manifest()}
	next := installed.OverReleased(t, strings.Replace(zoneSpec, "1.0.0", "1.1.0", 1)+"    outbox: {}\n", zoneDDL, released...)
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, first)
	installed.PutFiles(t, install, next, released...)
	server := installed.Start(t, install)
	for _, flavour := range []generator.Flavour{generator.Plain, generator.AsExtension} {
		t.Run(string(flavour), func(t *testing.T) {
			home := create(t, server, string(flavour))
			run(t, home, "set timezone = 'UTC'; set datestyle = 'ISO, DMY'")
			run(t, home, zoneDDL+" insert into visits values (1, '2024-01-01 20:00Z')")
			if _, err := commandtest.Apply(t.Context(), home, first, commandtest.ApplyOptions{Flavour: flavour}); err != nil {
				t.Fatal(pgtest.ErrorText(err))
			}
			for _, zone := range []string{"Etc/UTC", "Asia/Tokyo", "UTC"} {
				away := pgtest.Connect(t, server.DSN(string(flavour), "user="+pgtest.Owner, "timezone="+zone, "datestyle=SQL"))
				if did, err := commandtest.Apply(t.Context(), away, first, commandtest.ApplyOptions{Flavour: flavour}); err != nil || did.Changed || len(did.Repaired) > 0 {
					t.Errorf("applied again from %s: %+v, %v", zone, did, err)
				}
			}
			away := pgtest.Connect(t, server.DSN(string(flavour), "user="+pgtest.Owner, "timezone=Asia/Tokyo", "datestyle=SQL"))
			if did, err := commandtest.Apply(t.Context(), away, next, commandtest.ApplyOptions{Released: released}); err != nil || !did.Changed {
				t.Fatalf("upgraded from elsewhere: %+v, %s", did, pgtest.ErrorText(err))
			}
			run(t, home, "insert into visits values (2, '2024-01-01 21:00Z'), (3, '2024-01-02 01:00Z')")
			run(t, away, "select app.refresh_stream_table('days')")
			got := pgtest.Column[string](t, home, "select d::text from app.days d order by 1")
			want := pgtest.Column[string](t, home, "select row(date_trunc('day', at), min(at)::text, count(*))::text from visits group by date_trunc('day', at) order by 1")
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("the stream table has\n%s\nand its query\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			settings := pgtest.Column[string](t, home, "select distinct s from pg_proc p, unnest(p.proconfig) s where p.pronamespace = 'app_internal'::regnamespace and s ~ '^(TimeZone|DateStyle)=' order by 1")
			if strings.Join(settings, " ") != "DateStyle=ISO, DMY TimeZone=UTC" {
				t.Errorf("functions have %v", settings)
			}
		})
	}
}
