package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// The outcomes of a comparison of a stream table with its query.
const (
	Equal       = "equal"
	Behind      = "behind" // in full mode: a refresh makes it equal
	Differs     = "differs"
	NotCompared = "not compared"
	Failed      = "failed"
)

// ComparedTable is a stream table beside its query.
type ComparedTable struct {
	Name    string `json:"name"`
	Mode    string `json:"effective_mode"`
	Outcome string `json:"outcome"`
	Missing *int64 `json:"missing"`
	Extra   *int64 `json:"extra"`
	Detail  string `json:"detail,omitempty"`
}

// ComparedData is what was found about the stream tables of an extension.
type ComparedData struct {
	Extension    string          `json:"extension"`
	Version      string          `json:"version"`
	Schema       string          `json:"schema"`
	StreamTables []ComparedTable `json:"stream_tables"`
}

// Schemas lists the schemas of a database that have an extension.
func Schemas(ctx context.Context, conn *pgx.Conn) (schemas []string, err error) {
	err = within(ctx, conn, beginReadOnly, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
		select n.nspname::text
		from pg_class c
		join pg_namespace n on n.oid = c.relnamespace
		join pg_attribute a on a.attrelid = c.oid and a.attname in ('name', 'version', 'digest', 'flavour')
		where c.relname = 'pgt_extension'
		group by n.nspname
		having count(*) = 4
		order by 1`)
		if err == nil {
			schemas, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return schemas, err
}

// CompareData compares the stream tables of the extension in a schema with their queries, each in a snapshot of its own.
func CompareData(ctx context.Context, conn *pgx.Conn, schema string) (*ComparedData, error) {
	data := &ComparedData{Schema: schema, StreamTables: []ComparedTable{}}
	err := within(ctx, conn, beginReadOnly, func(tx pgx.Tx) error {
		found, err := installed(ctx, tx, schema)
		if err == nil && found.Name == "" {
			err = nothingIn(tx, schema)
		}
		if err != nil {
			return err
		}
		data.Extension, data.Version = found.Name, found.Version
		data.StreamTables, err = tablesToCompare(reader{ctx, tx, schema}, found)
		return err
	})
	for n := range data.StreamTables {
		if err == nil {
			err = data.StreamTables[n].compare(ctx, conn, schema)
		}
	}
	return data, err
}

// tablesToCompare lists the stream tables of an extension, which a version that knows no check_stream_table() cannot compare.
func tablesToCompare(in reader, found Installed) ([]ComparedTable, error) {
	tables, err := collectIf[ComparedTable](in, "pgt_stream_tables", `
		select c.stream_table as name, c.effective_mode as mode, '' as outcome, null::bigint as missing, null::bigint as extra, '' as detail
		from %[2]s.pgt_stream_table_config c
		order by c.refresh_order`)
	if err != nil || len(tables) == 0 {
		return []ComparedTable{}, err
	}
	var there, moved bool
	err = in.tx.QueryRow(in.ctx, "select to_regprocedure($1) is not null", sqltext.Qualified(in.schema, "check_stream_table")+"(text)").Scan(&there)
	if err == nil && !there {
		return nil, Refusal{fmt.Sprintf("extension %s %s has no function check_stream_table()", found.Name, found.Version), "upgrade it with \"sluice apply\""}
	}
	if err == nil { // as pgt_check_origin looks
		err = in.tx.QueryRow(in.ctx, fmt.Sprintf(`
		select (h.system_identifier, h.database_oid, h.row_xmin) is distinct from (c.system_identifier, d.oid::bigint, h.xmin::text)
		from %s h, pg_control_system() c, pg_database d
		where d.datname = current_database()
		order by h.no desc
		limit 1`, sqltext.Qualified(generator.InternalSchema(in.schema), "pgt_version_history"))).Scan(&moved)
	}
	if err == nil && moved {
		err = Refusal{fmt.Sprintf("the data of extension %s comes from another cluster or database, and its stream tables were not recomputed yet", found.Name),
			fmt.Sprintf("run \"call %s.tick()\", as jobs and \"sluice run\" do", sqltext.Ident(in.schema))}
	}
	return tables, err
}

// transient are errors after which a comparison is tried again in a new snapshot: serialization_failure, deadlock_detected, lock_not_available.
var transient = []string{"40001", "40P01", "55P03"}

// compare runs check_stream_table. Errors of the server are noted, as other stream tables may do better.
func (t *ComparedTable) compare(ctx context.Context, conn *pgx.Conn, schema string) error {
	var err error
	for range 5 {
		if err = t.inSnapshot(ctx, conn, schema); !slices.Contains(transient, sqlState(err)) {
			break
		}
	}
	switch {
	case err != nil && (sqlState(err) == "" || ctx.Err() != nil):
		return err
	case err != nil:
		t.Outcome, t.Missing, t.Extra, t.Detail = Failed, nil, nil, err.Error()
	case t.Missing == nil || t.Extra == nil:
		t.Outcome, t.Detail = NotCompared, "its next refresh recomputes it"
	case *t.Missing+*t.Extra > 0:
		t.Outcome = Differs
	case t.Detail != "":
		t.Outcome = Behind
	default:
		t.Outcome = Equal
	}
	return nil
}

// inSnapshot compares in a transaction that is rolled back. A stream table in full mode is refreshed first: it has no change log that describes which
// changes it has not seen.
func (t *ComparedTable) inSnapshot(ctx context.Context, conn *pgx.Conn, schema string) error {
	tx, err := conn.BeginTx(ctx, underOwnPath(beginSnapshot))
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	if t.Mode == "full" {
		var inserted, deleted int64
		err = tx.QueryRow(ctx, fmt.Sprintf("select inserted, deleted from %s.refresh_stream_table($1)", sqltext.Ident(schema)), t.Name).Scan(&inserted, &deleted)
		if t.Detail = ""; inserted+deleted > 0 {
			t.Detail = fmt.Sprintf("its next refresh inserts %s and deletes %d", diag.Count(inserted, "row"), deleted)
		}
	}
	if err == nil {
		err = tx.QueryRow(ctx, fmt.Sprintf("select missing, extra from %s.check_stream_table($1)", sqltext.Ident(schema)), t.Name).Scan(&t.Missing, &t.Extra)
	}
	return err
}

// sqlState is the code of an error of the server; empty for others.
func sqlState(err error) string {
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// MendHint says what to do about stream tables of a schema that differ from their queries.
func MendHint(schema string) string {
	return fmt.Sprintf("find what wrote to it, or to its sources without triggers; after \"update %s set seen = null where stream_table = …\" the next refresh recomputes it",
		sqltext.Qualified(generator.InternalSchema(schema), "pgt_stream_table_state"))
}

// Count counts the stream tables with an outcome.
func (d *ComparedData) Count(outcome string) int {
	n := 0
	for _, t := range d.StreamTables {
		if t.Outcome == outcome {
			n++
		}
	}
	return n
}
