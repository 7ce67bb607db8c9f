package examples

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestWorkersAreCut ends the connection of workers at each statement of a batch in turn, the first before it has begun. They go on, and stop when asked to.
func TestWorkersAreCut(t *testing.T) {
	for name, command := range map[string][]string{
		"node":       {"node", nodeScript(t, "worker.mjs")},
		"drizzle":    {"node", nodeScript(t, "worker_drizzle.mjs")},
		"python":     {python(), "worker.py"},
		"sqlalchemy": {python(), "worker_sqlalchemy.py"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workerIsCut(t, command...)
		})
	}
}

func workerIsCut(t *testing.T, command ...string) {
	const statements = 10 // of a batch: begin, claim, two savepoints, a rollback to one, marks, commit
	kinds := pgtest.ShortOrLong([]string{"ended"}, []string{"ended", "lost"})
	var cuts []cutAt
	for _, kind := range kinds {
		for statement := range statements + 1 {
			cuts = append(cuts, cutAt{kind, statement})
		}
	}
	db := installed.ShopDB(t)
	db.Exec(t, shopTables+`
		select pgtrickle.inbox_receive('order_events', 'bad', 'order.placed', '{}');
		select pgtrickle.inbox_receive('order_events', 'good', 'order.placed', '{"order_id": 1}')`)
	dsn, left := cutter(t, db, cuts)
	worker := exec.Command(command[0], append(command[1:], dsn, "order_events")...)
	var said strings.Builder
	worker.Stderr = &said
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- worker.Wait() }()
	t.Cleanup(func() { worker.Process.Kill() })
	pgtest.Until(t, "all cuts are made, and the good message is processed", func() bool {
		if len(ended) > 0 {
			t.Fatalf("it ended by itself, with %d cuts left: %v\n%s", len(left), <-ended, said.String())
		}
		return len(left) == 0 && pgtest.One[bool](t, db, "select exists (select from pgtrickle.order_events where event_id = 'good' and processed_at is not null)")
	})
	if got := pgtest.One[int](t, db, "select count(*) from shipments"); got != 1 {
		t.Errorf("%d shipments", got)
	}
	worker.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("asked to stop: %v\n%s", err, said.String())
		}
	case <-time.After(time.Minute):
		t.Errorf("asked to stop, it goes on:\n%s", said.String())
	}
}

// cutAt is how a connection ends, and at which of its statements, 0 at its start: "ended" as by pg_terminate_backend, or "lost" without a word while the
// statement may be executed.
type cutAt struct {
	kind      string
	statement int
}

// cutter stands between a client and the server of a database, and cuts a connection for each of some cuts, which it takes off those that are left.
func cutter(t *testing.T, db *pgtest.Database, cuts []cutAt) (dsn string, left chan cutAt) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "cut-") // short, for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	sockets, err := filepath.Glob(filepath.Join(db.Server.SocketDir, ".s.PGSQL.*[0-9]"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("sockets of the server: %v, %v", sockets, err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, filepath.Base(sockets[0])))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	left = make(chan cutAt, len(cuts))
	for _, cut := range cuts {
		left <- cut
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			at := cutAt{statement: -1}
			select {
			case at = <-left:
			default:
			}
			go at.pass(client, sockets[0])
		}
	}()
	return strings.Replace(db.DSN(), url.QueryEscape(db.Server.SocketDir), url.QueryEscape(dir), 1), left
}

// pass passes on what client and server say, until the cut.
func (at cutAt) pass(client net.Conn, server string) {
	defer client.Close()
	backend, err := net.Dial("unix", server)
	if err != nil {
		return
	}
	defer backend.Close()
	go io.Copy(client, backend)
	message, err := readMessage(client, 0)
	for statement := 0; err == nil; message, err = readMessage(client, 1) {
		cut := statement == at.statement
		if cut && at.kind == "ended" {
			said, _ := (&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command"}).Encode(nil)
			client.Write(said)
			return
		}
		if _, err := backend.Write(message); err != nil {
			return
		}
		if statement == 0 || message[0] == 'Q' || message[0] == 'S' { // a statement by itself, or the Sync after its parts
			if cut {
				return
			}
			statement++
		}
	}
}

// readMessage reads a message of a client, which begins with its type but for the first one.
func readMessage(client io.Reader, kind int) ([]byte, error) {
	head := make([]byte, kind+4)
	if _, err := io.ReadFull(client, head); err != nil {
		return nil, err
	}
	rest := make([]byte, max(4, binary.BigEndian.Uint32(head[kind:]))-4)
	_, err := io.ReadFull(client, rest)
	return append(head, rest...), err
}
