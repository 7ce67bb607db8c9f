package sandbox

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// DSN is the connection string of a database, for the superuser postgres on the
// Unix socket. Parameters are of the form "name=value", as in "user=owner" or
// "application_name=worker".
func (s *Server) DSN(db string, params ...string) string {
	return s.dsn(s.SocketDir, db, params)
}

// TCPDSN is DSN by 127.0.0.1, for servers started with Options.TCP.
func (s *Server) TCPDSN(db string, params ...string) string {
	return s.dsn("127.0.0.1", db, append([]string{"sslmode=disable"}, params...))
}

func (s *Server) dsn(host, db string, params []string) string {
	query := url.Values{"host": {host}, "port": {itoa(s.Port)}}
	user := "postgres"
	for _, param := range params {
		name, value, _ := strings.Cut(param, "=")
		if name == "user" {
			user = value
			continue
		}
		query.Set(name, value)
	}
	u := url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + db, RawQuery: query.Encode()}
	return u.String()
}

// clientEnv is the caller's environment with all that speaks of PostgreSQL
// replaced by the way to this server.
func (s *Server) clientEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PG") })
	return append(env, "PGHOST="+s.SocketDir, "PGPORT="+itoa(s.Port), "PGUSER=postgres")
}

// serverPrograms are those that refuse to run as root.
var serverPrograms = map[string]bool{
	"postgres": true, "initdb": true, "pg_ctl": true, "pg_upgrade": true, "pg_resetwal": true, "pg_rewind": true,
}

// Command prepares a program of PostgreSQL, such as psql, pg_dump, pg_restore
// or pgbench, with the environment that leads it to this server as postgres.
// Clients run as the caller, so that they may read and write the caller's
// files; programs that refuse root run as the server's user. A program that the
// server's own binaries lack comes from the next newer local version.
func (s *Server) Command(name string, args ...string) *exec.Cmd {
	path, err := s.program(name)
	cmd := exec.Command(path, args...)
	cmd.Env = s.clientEnv()
	if serverPrograms[name] {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.account}
	}
	if err != nil {
		cmd.Err = err
	}
	return cmd
}

// program finds a program. pg_dump reads from servers up to its own version;
// psql talks to all.
func (s *Server) program(name string) (string, error) {
	candidates := append([]Install{s.Install}, localInstalls()...)
	for _, in := range candidates {
		path := filepath.Join(in.Bin, name)
		if _, err := os.Stat(path); err == nil && (in.Major >= s.Major || name == "psql") {
			return path, nil
		}
	}
	return name, fmt.Errorf("%s for PostgreSQL %d not found: install postgresql-client-%d", name, s.Major, s.Major)
}

// Psql runs psql, which ignores the caller's .psqlrc and stops at the first
// error, and returns all that it prints.
func (s *Server) Psql(args ...string) (string, error) {
	cmd := s.Command("psql", append([]string{"-X", "-q", "-v", "ON_ERROR_STOP=1"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("psql: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return string(out), err
}
