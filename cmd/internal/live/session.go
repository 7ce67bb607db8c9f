package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// mostTime is how long one use of a session may take.
const mostTime = 20 * time.Second

// Session reads an extension again and again over one connection, which it opens when it needs it, and anew after it was lost. Several goroutines may use it.
type Session struct {
	dsn, schema string
	turn        chan struct{} // holds one item while the connection is in use
	conn        *pgx.Conn
}

// NewSession returns a session that has not connected yet.
func NewSession(dsn, schema string) *Session {
	return &Session{dsn: dsn, schema: schema, turn: make(chan struct{}, 1)}
}

// Close closes the connection.
func (s *Session) Close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.conn.Close(ctx)
		s.conn = nil
	}
}

// Status reads how the extension is doing, and what its parts read of each other.
func (s *Session) Status(ctx context.Context) (status *Status, flow *Flow, err error) {
	err = s.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if status, err = ReadStatus(ctx, conn, s.schema); err != nil {
			return err
		}
		flow, err = readFlow(ctx, conn, s.schema)
		return err
	})
	return status, flow, err
}

// History reads which versions were installed.
func (s *Session) History(ctx context.Context) (history *History, err error) {
	err = s.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		history, err = ReadHistory(ctx, conn, s.schema)
		return err
	})
	return history, err
}

// use waits for the connection and calls body with it.
func (s *Session) use(ctx context.Context, body func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.conn == nil || s.conn.IsClosed() {
		conn, err := Connect(ctx, s.dsn)
		if err != nil {
			return err
		}
		s.conn = conn
	}
	return body(ctx, s.conn)
}

// reading calls body in one snapshot that changes nothing.
func (s *Session) reading(ctx context.Context, body func(reader) error) error {
	return s.transaction(ctx, beginReadOnly, body)
}

func (s *Session) transaction(ctx context.Context, begin string, body func(reader) error) error {
	return s.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return within(ctx, conn, begin, func(tx pgx.Tx) error {
			found, err := installed(ctx, tx, s.schema)
			if err != nil {
				return err
			}
			if found.Name == "" {
				return nothingIn(tx, s.schema)
			}
			return body(reader{ctx, tx, s.schema})
		})
	})
}

// NotThere is that something with a name does not exist.
type NotThere struct{ What, Name string }

func (n NotThere) Error() string { return fmt.Sprintf("%s %s does not exist", n.What, n.Name) }

// Trouble is why something cannot be read or done.
type Trouble string

// Kinds of trouble.
const (
	Unreachable Trouble = "unreachable" // the server does not answer
	Forbidden   Trouble = "forbidden"   // the role may not
	Unknown     Trouble = "unknown"     // it does not exist
	Refused     Trouble = "refused"     // anything else that the server says
)

// Described says what may be shown of an error to people who do not know the connection: what the server says, and nothing of how it was reached.
func Described(err error) (kind Trouble, message, hint string) {
	var pg *pgconn.PgError
	var refusal Refusal
	var missing NotThere
	switch {
	case errors.As(err, &missing):
		return Unknown, missing.Error(), ""
	case errors.As(err, &refusal):
		return Refused, refusal.Message, refusal.Hint
	case !errors.As(err, &pg):
		return Unreachable, "the database does not answer", ""
	case strings.HasPrefix(pg.Code, "57P") || strings.HasPrefix(pg.Code, "08") || strings.HasPrefix(pg.Code, "53"):
		return Unreachable, pg.Message, ""
	case pg.Code == "42501":
		return Forbidden, pg.Message, "the role that sluice connects as lacks the right"
	case pg.Code == "42704":
		return Unknown, pg.Message, pg.Hint
	}
	return Refused, pg.Message, pg.Hint
}

// forbidden reports whether an error is that the role lacks a right.
func forbidden(err error) bool {
	kind, _, _ := Described(err)
	return err != nil && kind == Forbidden
}
