package live

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// howLong a fill may be silent.
const howLong = 5 * time.Second

// Filling tells of the stream tables that are being filled: each when it begins, and now and then how far it has come.
type Filling struct {
	DSN   string
	Log   func(format string, args ...any)
	Every time.Duration // 0: five seconds

	mu    sync.Mutex
	what  string // as the server says: the name, how many of how many
	since time.Time
}

// Notice takes what the server says.
func (f *Filling) Notice(n *pgconn.Notice) {
	what, filling := strings.CutPrefix(n.Message, "filling ")
	if !filling {
		if n.SeverityUnlocalized == "WARNING" {
			f.Log("warning: %s", n.Message)
		}
		return
	}
	f.Log("filling %s", what)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.what, f.since = what, time.Now()
}

// Watch tells how far what backend pid fills has come, until the returned function is called. It looks over a connection of its own; without
// one it tells only how long it has taken.
func (f *Filling) Watch(ctx context.Context, pid uint32) (stop func()) {
	if f == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	every := f.Every
	if every == 0 {
		every = howLong
	}
	var done sync.WaitGroup
	done.Go(func() {
		var conn *pgx.Conn
		for {
			wait(ctx, every)
			if ctx.Err() != nil {
				break
			}
			if conn == nil {
				conn, _ = Connect(ctx, f.DSN)
			}
			f.look(ctx, conn, pid)
		}
		if conn != nil {
			conn.Close(context.WithoutCancel(ctx))
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// progress is what one session can see of what another stores, and what that waits for.
const progress = `
select coalesce((
           select pg_size_pretty(pg_table_size(d.refobjid)) || ' stored'
           from pg_rewrite r
           join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
           join pg_class c on c.oid = d.refobjid and c.relkind = 'r'
           where r.ev_class = to_regclass($1)
           limit 1
       ), 'nothing stored')
       || coalesce((select ', waits for a lock' from pg_stat_activity a where a.pid = $2 and a.wait_event_type = 'Lock'), '')`

func (f *Filling) look(ctx context.Context, conn *pgx.Conn, pid uint32) {
	f.mu.Lock()
	what, since := f.what, f.since
	f.mu.Unlock()
	if what == "" {
		return
	}
	name, _, _ := strings.Cut(what, ", ")
	text := ""
	if conn != nil {
		if err := conn.QueryRow(ctx, progress, name, int32(pid)).Scan(&text); err == nil {
			text = ", " + text
		}
	}
	if ctx.Err() == nil {
		f.Log("filling %s: %v%s", what, time.Since(since).Round(time.Second), text)
	}
}
