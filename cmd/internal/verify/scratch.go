package verify

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// server makes and drops scratch databases.
type server struct {
	dsn, version string
	conn         *pgx.Conn
}

func reach(ctx context.Context, dsn string) (*server, error) {
	s := &server{dsn: dsn}
	var err error
	if s.conn, err = live.Connect(ctx, dsn); err != nil {
		return nil, err
	}
	if err := s.conn.QueryRow(ctx, "select pg_catalog.split_part(pg_catalog.current_setting('server_version'), ' ', 1)").Scan(&s.version); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *server) close() { s.conn.Close(context.Background()) }

// newRoles finds the roles of the spec that the server does not have, and returns what removes those again that were made meanwhile.
func (s *server) newRoles(ctx context.Context, e *generator.Extension) (forget func(), err error) {
	var missing []string
	for _, o := range e.Objects {
		if o.Kind != "role" {
			continue
		}
		var there bool
		if err := s.conn.QueryRow(ctx, "select exists (select from pg_catalog.pg_roles where rolname operator(pg_catalog.=) $1)", sqltext.Unquoted(o.Signature)).Scan(&there); err != nil {
			return nil, err
		}
		if !there {
			missing = append(missing, o.Signature)
		}
	}
	return func() {
		for _, role := range missing {
			_ = s.outside(ctx, "drop role if exists "+role) // fails where somebody else uses it by now
		}
	}, nil
}

// cleanupTimeout is how long cleaning up may take.
const cleanupTimeout = 30 * time.Second

// scratch runs body in a database of its own, which is dropped whatever happens.
func (s *server) scratch(ctx context.Context, body func(*pgx.Conn) error) (err error) {
	var random [6]byte
	rand.Read(random[:])
	name := "sluice_verify_" + hex.EncodeToString(random[:])
	_, err = s.conn.Exec(ctx, "create database "+sqltext.Ident(name)+" template template0")
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "42501" {
		return fmt.Errorf("%w: verify needs a role that may create databases (alter role … createdb), or a server of its own", err)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	defer func() { err = errors.Join(err, s.drop(ctx, name)) }()
	conn, err := live.ConnectTo(ctx, s.dsn, name)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return body(conn)
}

func (s *server) drop(ctx context.Context, name string) error {
	if err := s.outside(ctx, "drop database if exists "+sqltext.Ident(name)+" with (force)"); err != nil {
		return fmt.Errorf("scratch database %s is left: %w", name, err)
	}
	return nil
}

// outside runs a statement over another connection, also after an interrupt, which may have cut the first one off.
func (s *server) outside(ctx context.Context, sql string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	conn, err := live.Connect(ctx, s.dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// createInboxes creates an inbox with a table of its own, and one over a table that is there; and such as hand out messages in sequence, by number and by time.
func createInboxes(schema string) string {
	table, times := sqltext.Qualified(schema, "sluice verify: messages"), sqltext.Qualified(schema, "sluice verify: times")
	return fmt.Sprintf(`select %[1]s.create_inbox('sluice verify');
select %[1]s.create_inbox('sluice verify: numbers');
alter table %[1]s."sluice verify: numbers" add column number bigint;
select %[1]s.enable_inbox_ordering('sluice verify: numbers', p_sequence_column => 'number');
create table %[4]s (like %[1]s."sluice verify" including all);
select %[1]s.enable_inbox_tracking('sluice verify: by time', %[5]s);
select %[1]s.enable_inbox_ordering('sluice verify: by time');
create table %[2]s (
    event_id uuid primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null, processed_at timestamptz,
    error text, retry_count integer not null
);
select %[1]s.enable_inbox_tracking('sluice verify: over a table', %[3]s)`, sqltext.Ident(schema), table, sqltext.Literal(table), times, sqltext.Literal(times))
}
