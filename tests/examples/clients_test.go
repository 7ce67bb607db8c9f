package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/pgtest"
)

const (
	nodeDriver = "pg@8.16.3"
	jdbcDriver = "/usr/share/java/postgresql.jar" // of Debian's libpostgresql-jdbc-java
)

// TestSQLAlchemyWorkers has workers in Python with SQLAlchemy.
func TestSQLAlchemyWorkers(t *testing.T) {
	db := messages(t)
	workersKilled(t, db, python(), "worker_sqlalchemy.py", db.DSN(), "order_events")
}

// TestNodeWorkers has workers in JavaScript with node-postgres.
func TestNodeWorkers(t *testing.T) {
	db := messages(t)
	workersKilled(t, db, "node", nodeScript(t, "worker.mjs"), db.DSN(), "order_events")
}

// nodeScript copies a script beside the modules, where node looks for them.
func nodeScript(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, name)
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(script, text, 0o600)
	}
	if err == nil {
		err = os.Symlink(nodeModules(t), filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// nodeModules has the driver, from the registry of npm, in the user's cache directory.
func nodeModules(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if given := os.Getenv("SLUICE_CACHE_DIR"); given != "" {
		cache, err = given, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "node-"+strings.ReplaceAll(nodeDriver, "@", "-"))
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "pg", "package.json")); err == nil {
		return modules
	}
	next, err := os.MkdirTemp(filepath.Dir(cache), "sluice-node-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(next)
	if out, err := exec.CommandContext(t.Context(), "npm", "install", "--silent", "--no-save", "--prefix", next, nodeDriver).CombinedOutput(); err != nil {
		t.Fatalf("%s from npm: %v\n%s", nodeDriver, err, out)
	}
	_ = os.MkdirAll(cache, 0o755)
	if err := os.Rename(next, dir); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return modules
}

// TestJavaWorkers has workers in Java with JDBC.
func TestJavaWorkers(t *testing.T) {
	db, address := javaDatabase(t, installed.Load(t, installed.Shop()).Install(generator.Plain), received)
	workersKilled(t, db, append(java(t, "Worker"), address, "order_events")...)
}

// java compiles a class and returns the command that runs it.
func java(t *testing.T, class string) []string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "javac", "-d", dir, class+".java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", dir + ":" + jdbcDriver, class}
}

// javaDatabase is one of a server that listens with TCP, as JDBC knows no Unix sockets, and its address for JDBC.
func javaDatabase(t *testing.T, scripts ...string) (db *pgx.Conn, address string) {
	t.Helper()
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Install: pgtest.Server(t).Install, TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	db = pgtest.Connect(t, server.TCPDSN("postgres"))
	for _, sql := range scripts {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	return db, fmt.Sprintf("jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres&sslmode=disable", server.Port)
}
