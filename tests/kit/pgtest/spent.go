package pgtest

import (
	"context"
	"os"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/spent"
)

// started are the servers of start, whose statements are looked at in the end where times are wanted.
var started struct {
	sync.Mutex
	servers []*commandtest.Server
}

// statementsSQL is how long statements took, in seconds, by what they are for. Those within functions count for what calls them.
const statementsSQL = `
select case
    when query ~* '^\s*(create|drop) database' then 'servers: copying and dropping databases'
    when query ~* '^\s*(create|alter|drop|grant|revoke|comment|do|security|set|begin|commit|rollback|savepoint|release|lock|reset|import)\y'
        or query ~ 'attach\(' then 'servers: installing and other DDL'
    when query ~* '(tick|refresh_stream_table|check_stream_table|repair_stream_table|tick_once|run)\(' then 'servers: ticks and refreshes'
    when query ~* '^\s*(insert|update|delete|truncate|merge|copy)\y' then 'servers: writes, with triggers'
    else 'servers: queries'
end, sum(total_plan_time + total_exec_time) / 1000
from pg_stat_statements
group by 1`

// noteTimes notes what servers took for their statements, on which they worked most of the time, and the rest of what all processes took that this one started.
func noteTimes() {
	statements, all := map[string]float64{}, 0.0
	for _, s := range started.servers {
		conn, err := pgx.Connect(context.Background(), s.DSN("postgres"))
		if err != nil {
			continue
		}
		rows, _ := conn.Query(context.Background(), statementsSQL)
		var on string
		var seconds float64
		_, _ = pgx.ForEachRow(rows, []any{&on, &seconds}, func() error {
			statements[on] += seconds
			all += seconds
			return nil
		})
		conn.Close(context.Background())
	}
	commandtest.Cleanup()
	where, _ := os.Getwd()
	share := min(1, spent.Children()/max(all, 0.001))
	for on, seconds := range statements {
		spent.Note(spent.Entry{Package: where, On: on, Seconds: seconds * share})
	}
	spent.Note(spent.Entry{Package: where, On: "servers: starting, sessions, servers of tests' own; other programs", Seconds: spent.Children() - all*share})
}
