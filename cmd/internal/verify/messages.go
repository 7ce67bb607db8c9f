package verify

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// messages uses each inbox and each event outbox a little.
func (v *verifier) messages(ctx context.Context, conn *pgx.Conn) error {
	inboxes, err := v.listed(ctx, conn, v.schema()+".pgt_inbox_config", "inbox_name")
	if err != nil {
		return err
	}
	for _, name := range inboxes {
		v.Log("using inbox %s", name)
		v.result.add("inbox "+name, "receive, claim, mark, counts", v.inbox(ctx, conn, name))
	}
	outboxes, err := v.listed(ctx, conn, v.internal()+".pgt_outboxes", "case kind when 'event' then outbox_name end")
	if err != nil {
		return err
	}
	for _, name := range outboxes {
		v.Log("using outbox %s", name)
		v.result.add("outbox "+name, "publish, poll, commit", v.outbox(ctx, conn, name))
	}
	return ctx.Err()
}

// listed reads names from a table of the catalog, given as SQL; none if there is no such table.
func (v *verifier) listed(ctx context.Context, conn *pgx.Conn, table, column string) ([]string, error) {
	there, err := v.has(ctx, conn, table)
	if err != nil || !there {
		return nil, err
	}
	rows, err := conn.Query(ctx, fmt.Sprintf("select n from (select %s as n from %s) l where n is not null order by n", column, table))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// expect runs a query of one value, text, and compares it.
func (v *verifier) expect(ctx context.Context, conn *pgx.Conn, want, what, sql string, args ...any) error {
	var got string
	if err := conn.QueryRow(ctx, "select ("+strings.ReplaceAll(sql, "SCHEMA", v.schema())+")::text", args...).Scan(&got); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if got != want {
		return fmt.Errorf("%s: %s, want %s", what, got, want)
	}
	return nil
}

const defaultPartitions = `do $do$
declare
    v_table record;
begin
    for v_table in
        select t.relid as name, n.nspname as schema, 'sluice_verify_' || t.relid::oid as partition
        from pg_partition_tree(to_regclass(%s)) t
        join pg_partitioned_table p on p.partrelid = t.relid and p.partstrat <> 'h' and p.partdefid = 0
        join pg_class c on c.oid = t.relid
        join pg_namespace n on n.oid = c.relnamespace
    loop
        execute format('create table %%I.%%I partition of %%s default', v_table.schema, v_table.partition, v_table.name);
    end loop;
end;
$do$`

// receivable reads the tables that are there, once those of inboxes have a partition for whatever is received.
func (v *verifier) receivable(ctx context.Context, conn *pgx.Conn) ([]*table, error) {
	for _, m := range v.Extension.Manifest().Made {
		if m.Kind != "inbox table" {
			continue
		}
		if _, err := conn.Exec(ctx, fmt.Sprintf(defaultPartitions, sqltext.Literal(m.On[0]))); err != nil {
			return nil, err
		}
	}
	return readTables(ctx, conn)
}

// inbox receives ten messages, one of them twice, and processes some.
func (v *verifier) inbox(ctx context.Context, conn *pgx.Conn, name string) error {
	nest, err := v.idPath(ctx, conn, name)
	if err != nil {
		return err
	}
	table, processed, ids, err := v.table(ctx, conn, name)
	if err != nil {
		return err
	}
	receive := func(n int, want string) error {
		id := fmt.Sprintf(ids, n)
		given := "$2"
		if nest != nil {
			given = "nullif($2, $2)"
		}
		return v.expect(ctx, conn, want, "receiving", "SCHEMA.inbox_receive($1, "+given+", 'verify', $3::jsonb)", name, id, payload(nest, id))
	}
	for n := range 10 {
		if err := receive(n, "true"); err != nil {
			return err
		}
	}
	if err := receive(0, "false"); err != nil {
		return fmt.Errorf("a message that was there: %w", err)
	}
	var claimed []string
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, fmt.Sprintf("select event_id from %s.inbox_claim($1, 4)", v.schema()), name)
		if err == nil {
			claimed, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			return err
		}
		for n, id := range claimed {
			mark, args := "inbox_mark_processed($1, $2)", []any{name, id}
			if n == 3 {
				mark, args = "inbox_mark_failed($1, $2, $3)", append(args, "verify")
			}
			if _, err := tx.Exec(ctx, fmt.Sprintf("select %s.%s", v.schema(), mark), args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(claimed) != 4 {
		return fmt.Errorf("a claim of 4 gave %d of 10 messages", len(claimed))
	}
	return errors.Join(
		v.expect(ctx, conn, "10 3", "messages and processed ones", fmt.Sprintf("(select count(*) || ' ' || count(%s) from %s)", processed, table)),
		v.counts(ctx, conn, name),
	)
}

// counts ticks, and compares the inbox's figures with its messages.
func (v *verifier) counts(ctx context.Context, conn *pgx.Conn, name string) error {
	if _, err := conn.Exec(ctx, fmt.Sprintf("call %s.tick()", v.schema())); err != nil {
		return err
	}
	return v.expect(ctx, conn, "7 0 3", "pending, dead and processed messages by inbox_status",
		"select concat_ws(' ', s.pending_count, s.dlq_count, s.processed_count) from SCHEMA.inbox_status() s where s.inbox_name = $1", name)
}

// table is an inbox's, with the column of processed messages, as SQL, and a format of ids that its type takes.
func (v *verifier) table(ctx context.Context, conn *pgx.Conn, inbox string) (table, processed, ids string, err error) {
	err = conn.QueryRow(ctx, fmt.Sprintf(`select r.name, quote_ident(c.processed_at_column), (
	    select string_agg(case
	        when a.atttypid = 'uuid'::regtype then '00000000-0000-4000-8000-%%012[1]d'
	        when a.atttypid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'timestamptz'::regtype, 'date'::regtype) then '%%[1]d'
	        else 'sluice-verify-%%[1]d'
	    end, '/' order by k.no)
	    from jsonb_array_elements_text(case jsonb_typeof(to_jsonb(c) -> 'id_columns') when 'array' then to_jsonb(c) -> 'id_columns' else jsonb_build_array(c.id_column) end)
	        with ordinality k (name, no)
	    join pg_attribute a on a.attrelid = r.name::regclass and a.attname = k.name
	)
	from %s.pgt_inbox_config c
	cross join lateral (select format('%%I.%%I', c.inbox_schema, c.inbox_table) as name) r
	where c.inbox_name = $1`, v.schema()), inbox).Scan(&table, &processed, &ids)
	return table, processed, ids, err
}

var field = regexp.MustCompile(`'([^']+)'::text`)

// idPath lists the fields of the payload from which an inbox computes ids, from the outermost; nil if it does not.
func (v *verifier) idPath(ctx context.Context, conn *pgx.Conn, inbox string) ([]string, error) {
	var expression *string
	table, _, _, err := v.table(ctx, conn, inbox)
	if err != nil {
		return nil, err
	}
	err = conn.QueryRow(ctx, "select (select pg_get_expr(d.adbin, d.adrelid) from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum"+
		" where a.attrelid = to_regclass($1) and a.attname = 'event_id' and a.attgenerated <> '')", table).Scan(&expression)
	if err != nil || expression == nil {
		return nil, err
	}
	var path []string
	for _, found := range field.FindAllStringSubmatch(*expression, -1) {
		path = append(path, found[1])
	}
	if len(path) == 0 {
		return nil, notChecked("its ids are computed by " + *expression + ", and nothing is known of such payloads")
	}
	return path, nil
}

// payload has an id at the end of a path of fields.
func payload(path []string, id string) string {
	text := `"` + id + `"`
	for n := len(path) - 1; n >= 0; n-- {
		text = fmt.Sprintf("{%q: %s}", path[n], text)
	}
	if len(path) == 0 {
		text = `{"id": ` + text + "}"
	}
	return text
}

// outbox publishes ten events and consumes them in a group.
func (v *verifier) outbox(ctx context.Context, conn *pgx.Conn, name string) error {
	if err := v.call(ctx, conn, "create_consumer_group($1, $2)", group, name); err != nil {
		return err
	}
	published := map[int64]bool{}
	for n := range 10 {
		var id int64
		err := conn.QueryRow(ctx, fmt.Sprintf(`select %s.outbox_publish($1, 'verify', '{"n": 1}', $2)`, v.schema()), name, fmt.Sprint(n%3)).Scan(&id)
		if err != nil {
			return err
		}
		published[id] = true
	}
	for range published { // with an order per key, a poll gives a part
		rows, err := conn.Query(ctx, fmt.Sprintf("select id from %s.poll_outbox($1, 'sluice verify', 100)", v.schema()), group)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !published[id] {
				return fmt.Errorf("event %d was delivered, and not for the first time", id)
			}
			delete(published, id)
		}
		if len(ids) > 0 {
			if err := v.expect(ctx, conn, fmt.Sprint(ids[len(ids)-1]), "committing", "SCHEMA.commit_offset($1, 'sluice verify', $2)", group, ids[len(ids)-1]); err != nil {
				return err
			}
		}
	}
	if len(published) > 0 {
		return fmt.Errorf("%d of 10 events were not delivered", len(published))
	}
	if err := v.expect(ctx, conn, "0", "lag", "select sum(lag_rows) from SCHEMA.consumer_lag($1)", group); err != nil {
		return err
	}
	return v.call(ctx, conn, "drop_consumer_group($1)", group)
}

func (v *verifier) call(ctx context.Context, conn *pgx.Conn, call string, args ...any) error {
	_, err := conn.Exec(ctx, fmt.Sprintf("select %s.%s", v.schema(), call), args...)
	return err
}
