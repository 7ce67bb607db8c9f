package migrations

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator/migrations"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestFlyway runs Flyway's library, which Maven fetches, on a server of its own, as Java knows no sockets. The library undoes nothing: that
// takes a licence, so the undo scripts are only looked at by TestFlywayUndo.
func TestFlyway(t *testing.T) {
	for _, needed := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Fatalf("%s not found: install default-jdk-headless and maven", needed)
		}
	}
	libraries := t.TempDir()
	command(t, "mvn", "-q", "-B", "-f", "testdata/flyway/pom.xml", "dependency:copy-dependencies", "-DoutputDirectory="+libraries)
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Install: pgtest.Server(t).Install, TCP: true})
	must(t, err)
	t.Cleanup(func() { server.Close() })
	admin := pgtest.Connect(t, server.DSN("postgres"))
	_, err = admin.Exec(t.Context(), "create role "+pgtest.Owner+" login")
	must(t, err)
	databases := 0
	open := func(t *testing.T) target {
		databases++
		name := fmt.Sprintf("flyway_%d", databases)
		if _, err := admin.Exec(t.Context(), "create database "+name+" owner "+pgtest.Owner); err != nil {
			t.Fatal(err)
		}
		_, err := pgtest.Connect(t, server.DSN(name)).Exec(t.Context(), "grant all on schema public to "+pgtest.Owner) // as elsewhere: rights are compared, too
		must(t, err)
		return target{name, pgtest.Connect(t, server.DSN(name, "user="+pgtest.Owner))}
	}
	follow(t, migrations.Flyway, open, func(t *testing.T, name, dir string) tool {
		return tool{up: func() error {
			address := fmt.Sprintf("jdbc:postgresql://127.0.0.1:%d/%s", server.Port, name)
			// Java's time zone becomes the session's, and functions keep that of who installs them.
			out, err := exec.CommandContext(t.Context(), "java", "-Duser.timezone=UTC", "-cp", filepath.Join(libraries, "*"),
				"testdata/flyway/Migrate.java", address, pgtest.Owner, dir).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w\n%s", err, out)
			}
			return nil
		}}
	})
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%.2000s", name, err, out)
	}
}

// TestFlywayUndo checks which releases have undo scripts, and that these are what other tools run to go back.
func TestFlywayUndo(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	lay(t, migrations.Flyway, history(t), dir)
	lay(t, migrations.GolangMigrate, history(t), other)
	paths, err := filepath.Glob(filepath.Join(dir, "U*.sql"))
	must(t, err)
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	if got, want := strings.Join(names, " "), "U1.0.0.1__mail_fill.sql U1.0.0__mail.sql U1.2.0.1__mail_fill.sql U1.2.0__mail.sql"; got != want {
		t.Errorf("undo scripts %s, want %s", got, want)
	}
	undo, down := read(t, dir, "U1.2.0__mail.sql"), read(t, other, "000010020000_mail_1.2.0.down.sql")
	if bare := strings.NewReplacer("begin;\n\n", "", "\ncommit;\n", "").Replace(down); bare != undo {
		t.Errorf("the undo script is not that of golang-migrate without its transaction:\n%.2000s", undo)
	}
}
