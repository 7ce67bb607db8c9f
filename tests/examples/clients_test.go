package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
	dir := t.TempDir()
	script := filepath.Join(dir, "worker.mjs") // beside the modules, where node looks for them
	text, err := os.ReadFile("worker.mjs")
	if err == nil {
		err = os.WriteFile(script, text, 0o600)
	}
	if err == nil {
		err = os.Symlink(nodeModules(t), filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	workersKilled(t, db, "node", script, db.DSN(), "order_events")
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

// TestJavaWorkers has workers in Java with JDBC, which knows no Unix sockets.
func TestJavaWorkers(t *testing.T) {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Install: pgtest.Server(t).Install, TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "javac", "-d", dir, "Worker.java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	db := pgtest.Connect(t, server.TCPDSN("postgres"))
	for _, sql := range []string{installed.Load(t, installed.Shop()).Install(generator.Plain), received} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	address := fmt.Sprintf("jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres&sslmode=disable", server.Port)
	workersKilled(t, db, "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", dir+":"+jdbcDriver, "Worker", address, "order_events")
}
