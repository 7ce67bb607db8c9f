package pgtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Session is a connection that answers SQL with text, as psql does.
type Session struct {
	Conn *pgx.Conn

	mu  sync.Mutex
	out strings.Builder // what the statement at work has said so far
}

// OpenSession opens a session that is closed when the test ends. Its
// application_name is name, so that tests find it in the server's views.
func OpenSession(t testing.TB, dsn, name string) *Session {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{}
	config.RuntimeParams["application_name"] = name
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { s.say(NoticeText(n) + "\n") }
	s.Conn, err = pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Conn.Close(context.Background()) })
	return s
}

func (s *Session) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.WriteString(text)
}

func (s *Session) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.out.Reset()
	return s.out.String()
}

// PID is the process id of the session's server process.
func (s *Session) PID() uint32 { return s.Conn.PgConn().PID() }

// Run executes statements, each in a message of its own as psql sends them, so
// that procedures may commit, up to the first error. It returns tables, command
// tags of statements that change rows, messages and the error, in their order.
func (s *Session) Run(ctx context.Context, sql string) string {
	for _, statement := range Split(sql) {
		if err := s.run(ctx, statement); err != nil {
			s.say(s.errorText(err) + "\n")
			break
		}
	}
	return s.said()
}

// errorText is ErrorText, without the address of a connection that is lost.
func (s *Session) errorText(err error) string {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) && s.Conn.IsClosed() {
		return "ERROR: connection lost"
	}
	return ErrorText(err)
}

func (s *Session) run(ctx context.Context, statement string) error {
	results := s.Conn.PgConn().Exec(ctx, statement)
	for results.NextResult() {
		reader := results.ResultReader()
		table := newTable(reader.FieldDescriptions())
		for reader.NextRow() {
			table.Rows = append(table.Rows, texts(reader.Values()))
		}
		tag, err := reader.Close()
		if err == nil {
			s.say(resultText(table, tag))
		}
	}
	return results.Close()
}

func resultText(table Table, tag pgconn.CommandTag) string {
	if len(table.Names) > 0 {
		return table.String()
	}
	if tag.Insert() || tag.Update() || tag.Delete() || strings.HasPrefix(tag.String(), "MERGE") ||
		strings.HasPrefix(tag.String(), "COPY") {
		return tag.String() + "\n"
	}
	return ""
}

// Notifications returns what has been notified to the session, as lines
// "NOTIFY channel: payload". It waits until none has come for the time given.
func (s *Session) Notifications(ctx context.Context, quiet time.Duration) string {
	var b strings.Builder
	for {
		wait, cancel := context.WithTimeout(ctx, quiet)
		n, err := s.Conn.WaitForNotification(wait)
		timeout := wait.Err() != nil
		cancel()
		if err != nil {
			if !timeout {
				b.WriteString(ErrorText(err) + "\n")
			}
			return b.String()
		}
		fmt.Fprintf(&b, "NOTIFY %s: %s\n", n.Channel, n.Payload)
	}
}
