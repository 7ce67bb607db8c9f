package pgtest

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// administrator is a superuser's session that stays open: thousands of databases are made and dropped, and a session costs 2 ms of processor time.
type administrator struct {
	sync.Mutex
	conn *pgx.Conn
}

// administrators holds one *administrator for each directory of a server's socket.
var administrators sync.Map

// administer runs a statement that makes or drops a database.
func administer(ctx context.Context, s *commandtest.Server, statement string) error {
	found, _ := administrators.LoadOrStore(s.SocketDir, &administrator{})
	a := found.(*administrator)
	a.Lock()
	defer a.Unlock()
	if a.conn == nil || a.conn.Ping(ctx) != nil {
		conn, err := pgx.Connect(ctx, s.DSN("postgres"))
		if err != nil {
			return err
		}
		a.conn = conn
	}
	_, err := a.conn.Exec(ctx, statement)
	return err
}
