package examples

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const jdbcDriver = "/usr/share/java/postgresql.jar" // of Debian's libpostgresql-jdbc-java

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

// TestDrizzleWorkers has workers in JavaScript with Drizzle.
func TestDrizzleWorkers(t *testing.T) {
	db := messages(t)
	workersKilled(t, db, "node", nodeScript(t, "worker_drizzle.mjs"), db.DSN(), "order_events")
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

// nodeModules has what the scripts import, from the registry of npm.
func nodeModules(t *testing.T) string {
	t.Helper()
	packages := []string{"pg@8.16.3", "drizzle-orm@0.45.4"}
	dir := cached(t, "node-"+strings.ReplaceAll(strings.Join(packages, "-"), "@", "-"), func(dir string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "npm", append([]string{"install", "--silent", "--no-save", "--prefix", dir}, packages...)...)
	})
	return filepath.Join(dir, "node_modules")
}

// springJars has Spring's JdbcTemplate, from Maven Central.
func springJars(t *testing.T) string {
	t.Helper()
	const pom = "testdata/spring/pom.xml"
	text, err := os.ReadFile(pom)
	if err != nil {
		t.Fatal(err)
	}
	return cached(t, fmt.Sprintf("spring-%x", sha256.Sum256(text))[:len("spring-")+12], func(dir string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+dir)
	})
}

// cached is a directory of the user's cache (SLUICE_CACHE_DIR overrides it), which a command fills once.
func cached(t *testing.T, name string, fill func(dir string) *exec.Cmd) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	cache = filepath.Join(cache, "sluice")
	if given := os.Getenv("SLUICE_CACHE_DIR"); given != "" {
		cache, err = given, nil
	}
	if err == nil {
		err = os.MkdirAll(cache, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, name)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	next, err := os.MkdirTemp(cache, "next-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(next)
	if out, err := fill(next).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	if err := os.Rename(next, dir); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return dir
}

// TestJavaWorkers has workers in Java with JDBC.
func TestJavaWorkers(t *testing.T) {
	db, address := javaDatabase(t, installed.Load(t, installed.Shop()).Install(generator.Plain), received)
	workersKilled(t, db, append(java(t, "Worker"), address, "order_events")...)
}

// TestSpringWorkers has workers in Java with JdbcTemplate.
func TestSpringWorkers(t *testing.T) {
	db, address := javaDatabase(t, installed.Load(t, installed.Shop()).Install(generator.Plain), received)
	workersKilled(t, db, append(java(t, "WorkerSpring", filepath.Join(springJars(t), "*")), address, "order_events")...)
}

// java compiles a class and returns the command that runs it.
func java(t *testing.T, class string, libraries ...string) []string {
	t.Helper()
	dir := t.TempDir()
	path := strings.Join(append([]string{dir, jdbcDriver}, libraries...), ":")
	if out, err := exec.CommandContext(t.Context(), "javac", "-cp", path, "-d", dir, class+".java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path, class}
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
