package pgtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// bouncerConfig pools transactions: two transactions of a client may run in two
// sessions of the server. It admits every session.
const bouncerConfig = `[databases]
* = host=%[1]s port=%[2]d

[pgbouncer]
listen_port = %[3]d
unix_socket_dir = %[4]s
auth_type = trust
auth_file = %[4]s/users
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
`

// Pgbouncer starts a pgbouncer in transaction pooling mode before the database
// and returns the DSN by which the owner connects through it. The DSN asks pgx
// for the simple protocol, since pgbouncer before 1.21 knows nothing of
// prepared statements; other clients must take default_query_exec_mode off.
func Pgbouncer(t testing.TB, db *Database) string {
	t.Helper()
	program, err := findBouncer()
	if err != nil {
		t.Fatal(err)
	}
	dir, port := bouncerDir(t), freePort(t)
	config := fmt.Sprintf(bouncerConfig, db.Server.SocketDir, db.Server.Port, port, dir)
	write(t, filepath.Join(dir, "ini"), config)
	write(t, filepath.Join(dir, "users"), fmt.Sprintf("%q \"\"\n%q \"\"\n", Owner, "postgres"))
	startBouncer(t, db, exec.Command(program, filepath.Join(dir, "ini")), dir, port)
	return db.DSN("host="+dir, fmt.Sprintf("port=%d", port), "default_query_exec_mode=simple_protocol")
}

func findBouncer() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} { // Debian's place, not on all PATHs
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("pgbouncer not found: install pgbouncer")
}

// bouncerDir makes a directory whose path is short enough for a socket and
// which the server's user may use.
func bouncerDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pgbouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func startBouncer(t testing.TB, db *Database, cmd *exec.Cmd, dir string, port int) {
	t.Helper()
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := db.Server.Spawn(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
	})
	socket := filepath.Join(dir, fmt.Sprintf(".s.PGSQL.%d", port))
	if !Becomes(func() bool { return listens(socket) }) {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("pgbouncer does not listen:\n%s", log.String())
	}
}

func listens(socket string) bool {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
