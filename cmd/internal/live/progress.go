package live

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	howLong   = 5 * time.Second        // a step may be silent
	lookEvery = 200 * time.Millisecond // for what it waits for
)

// Progress describes what apply does: what may take long when it begins, and now and then how far it has come and what it waits for. The nil
// Progress reports nothing.
type Progress struct {
	DSN   string
	Log   func(format string, args ...any)
	Line  func(text string) // shows what the next call, or Log, overwrites; nil where there is no terminal
	Every time.Duration     // 0: five seconds

	mu       sync.Mutex
	what     string // the step, or as the server says: filling, the name, how many of how many
	filling  string // the name
	since    time.Time
	reported time.Time
	waiting  string // for which lock, and who has it, when last seen
}

// Notice takes what the server says.
func (p *Progress) Notice(n *pgconn.Notice) {
	what, filling := strings.CutPrefix(n.Message, "filling ")
	if !filling {
		if n.SeverityUnlocalized == "WARNING" {
			p.Log("warning: %s", n.Message)
		}
		return
	}
	p.Log("filling %s", what)
	name, _, _ := strings.Cut(what, ", ")
	p.begin(n.Message, name)
}

// begin notes what is being done now.
func (p *Progress) begin(what, filling string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.what, p.filling, p.since, p.reported = what, filling, time.Now(), time.Now()
	p.mu.Unlock()
	p.line(what)
}

// Now is what is being done.
func (p *Progress) current() string {
	if p == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.what
}

// blocked is which lock was waited for when last seen, and who had it. It forgets that.
func (p *Progress) blocked() string {
	if p == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.waiting = "" }()
	return p.waiting
}

func (p *Progress) log(format string, args ...any) {
	if p != nil {
		p.Log(format, args...)
	}
}

func (p *Progress) line(text string) {
	if p != nil && p.Line != nil {
		p.Line(text)
	}
}

// watch reports how far backend pid has come, until the returned function is called. It looks over a connection of its own; without one it
// reports only how long steps take.
func (p *Progress) watch(ctx context.Context, pid int32) (stop func()) {
	if p == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		var conn *pgx.Conn
		for wait(ctx, min(lookEvery, p.every())); ctx.Err() == nil; wait(ctx, min(lookEvery, p.every())) {
			if conn == nil || conn.IsClosed() {
				conn, _ = Connect(ctx, p.DSN)
			}
			p.look(ctx, conn, pid)
		}
		if conn != nil {
			conn.Close(context.WithoutCancel(ctx))
		}
	})
	return func() {
		cancel()
		done.Wait()
		p.line("")
	}
}

func (p *Progress) every() time.Duration {
	if p.Every == 0 {
		return howLong
	}
	return p.Every
}

// far is how far a backend has come, as other sessions see it: the size of what it stores, or the part of a table that it has indexed; and
// which lock it waits for, and who has it or is before it in the queue.
const far = `
select coalesce((
           select ', ' || pg_size_pretty(pg_table_size(d.refobjid)) || ' stored'
           from pg_rewrite r
           join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
           join pg_class c on c.oid = d.refobjid and c.relkind = 'r'
           where r.ev_class = to_regclass(nullif($1, ''))
           limit 1
       ), case when $1 <> '' then ', nothing stored' else '' end)
       || coalesce((select format(', %s %% of the table', 100 * i.blocks_done / i.blocks_total) from pg_stat_progress_create_index i where i.pid = $2 and i.blocks_total > 0), ''),
       coalesce((
           select coalesce('a lock on ' || l.relation::regclass, 'a lock of kind ' || l.locktype, 'a lock') || coalesce(' that ' || b.holders || ' has', '')
           from pg_stat_activity a
           left join pg_locks l on l.pid = a.pid and not l.granted
           cross join lateral (
               select string_agg(case when s.pid is null then 'a prepared transaction'
                   else format('process %s (%s)', s.pid, concat_ws(', ', nullif(s.application_name, ''), s.usename, s.state, 'query began ' || to_char(s.query_start, 'YYYY-MM-DD HH24:MI:SS TZ')))
                   end, ' and ') as holders
               from unnest(pg_blocking_pids(a.pid)) p (pid)
               left join pg_stat_activity s on s.pid = p.pid
           ) b
           where a.pid = $2 and a.wait_event_type = 'Lock'
           limit 1
       ), '')`

func (p *Progress) look(ctx context.Context, conn *pgx.Conn, pid int32) {
	p.mu.Lock()
	what, filling, since := p.what, p.filling, p.since
	due := time.Since(p.reported) >= p.every()
	p.mu.Unlock()
	if what == "" {
		return
	}
	text, waiting := "", ""
	if conn != nil {
		err := within(ctx, conn, "begin read only", func(tx pgx.Tx) error { return tx.QueryRow(ctx, far, filling, pid).Scan(&text, &waiting) })
		if err != nil {
			text, waiting = "", ""
		}
	}
	if ctx.Err() != nil {
		return
	}
	if waiting != "" {
		text += ", waits for " + waiting
	}
	p.mu.Lock()
	if waiting != "" {
		p.waiting = waiting
	}
	if due {
		p.reported = time.Now()
	}
	p.mu.Unlock()
	if took := time.Since(since).Round(time.Second); p.Line != nil {
		p.Line(what + ": " + took.String() + text)
	} else if due {
		p.Log("%s: %v%s", what, took, text)
	}
}
