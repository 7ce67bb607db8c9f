package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv("SLUICE_SANDBOX_CHILD") != "" {
		childMain()
	}
	code := m.Run()
	Cleanup()
	os.Exit(code)
}

func start(t *testing.T, opts Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// ask returns what a query prints.
func ask(t *testing.T, s *Server, sql string) string {
	t.Helper()
	out, err := s.Psql("-At", "-d", "postgres", "-c", sql)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.LogTail(20))
	}
	return strings.TrimSpace(out)
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestDefaults(t *testing.T) {
	s := start(t, Options{Settings: map[string]string{"work_mem": "7MB"}})
	expect(t, "user", ask(t, s, "select current_user"), "postgres")
	expect(t, "encoding", ask(t, s, "show server_encoding"), "UTF8")
	expect(t, "addresses", ask(t, s, "show listen_addresses"), "")
	expect(t, "fsync", ask(t, s, "show fsync"), "off")
	expect(t, "setting", ask(t, s, "show work_mem"), "7MB")
	out, err := s.Command("psql", "-XAt", "-c", "select 1", s.DSN("template1", "user=postgres")).Output()
	expect(t, "by DSN", fmt.Sprint(string(out), err), "1\n<nil>")
}

func TestDurableAndTCP(t *testing.T) {
	s := start(t, Options{Durable: true, TCP: true})
	expect(t, "fsync", ask(t, s, "show fsync"), "on")
	out, err := s.Command("psql", "-XAt", "-c", "select host(inet_server_addr())", s.TCPDSN("postgres")).Output()
	expect(t, "address", fmt.Sprint(string(out), err), "127.0.0.1\n<nil>")
}

func TestStopKeepsDataAndCloseLeavesNothing(t *testing.T) {
	s := start(t, Options{})
	ask(t, s, "create table kept as select 1 as n")
	for name, stop := range map[string]func() error{"Stop": s.Stop, "Immediate": s.Immediate} {
		if err := stop(); err != nil {
			t.Fatal(name, err)
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		expect(t, name, ask(t, s, "table kept"), "1")
	}
	s.Close()
	if _, err := os.Stat(s.SocketDir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", s.SocketDir, err)
	}
}

func TestWithoutCache(t *testing.T) {
	in := start(t, Options{}).Install
	t.Setenv("SLUICE_CACHE_DIR", "/dev/null/cache")
	expect(t, "answer", ask(t, start(t, Options{Install: in}), "select 1"), "1")
}

func TestKillAllAndRecover(t *testing.T) {
	s := start(t, Options{Durable: true})
	ask(t, s, "create table t (n int)")
	for n := 1; n <= 3; n++ {
		ask(t, s, fmt.Sprintf("insert into t values (%d)", n))
		killAndRestart(t, s)
	}
	expect(t, "rows", ask(t, s, "select count(*) from t"), "3")
	if !strings.Contains(s.LogTail(1000), "automatic recovery in progress") {
		t.Error("the server did not recover:", s.LogTail(20))
	}
}

// killAndRestart kills the server while a client is at work in it.
func killAndRestart(t *testing.T, s *Server) {
	t.Helper()
	busy := s.Command("psql", "-Xqc", "select pg_sleep(60)")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer busy.Wait()
	await(t, "a busy client", func() bool {
		return ask(t, s, "select count(*) from pg_stat_activity where query = 'select pg_sleep(60)'") == "1"
	})
	children, _ := childrenOf(s.PID())
	if err := s.KillAll(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range children {
		if alive(pid) {
			t.Errorf("process %d of %d is alive", pid, len(children))
		}
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain for", what)
		}
	}
}

func TestRootRunsServerAsAnotherUser(t *testing.T) {
	s := start(t, Options{})
	info, err := os.Stat(fmt.Sprintf("/proc/%d", s.PID()))
	if err != nil {
		info, err = os.Stat(s.DataDir())
	}
	if err != nil {
		t.Fatal(err)
	}
	uid := int(info.Sys().(*syscall.Stat_t).Uid)
	if uid == 0 || os.Geteuid() != 0 && uid != os.Geteuid() {
		t.Errorf("we are user %d, the server is user %d", os.Geteuid(), uid)
	}
}

func TestServerOutlivesTheThreadThatStartedIt(t *testing.T) {
	started := make(chan *Server)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with us
		s, err := Start(context.Background(), Options{})
		if err != nil {
			t.Error(err)
		}
		started <- s
	}()
	s := <-started
	t.Cleanup(func() { s.Close() })
	time.Sleep(200 * time.Millisecond)
	expect(t, "answer", ask(t, s, "select 1"), "1")
}

func TestBadSettingTellsWhy(t *testing.T) {
	_, err := Start(t.Context(), Options{Settings: map[string]string{"work_mem": "plenty"}})
	if err == nil || !strings.Contains(err.Error(), "work_mem") {
		t.Error("got", err)
	}
}

func TestProgramsThatAreMissing(t *testing.T) {
	s := &Server{Install: Install{Bin: "/nowhere", Major: 18}}
	err := s.Command("pg_nothing").Run()
	expect(t, "error", fmt.Sprint(err), "pg_nothing for PostgreSQL 18 not found: install postgresql-client-18")
}

func TestSweepSparesWhatIsInUse(t *testing.T) {
	base := t.TempDir()
	used, left := filepath.Join(base, scratchPrefix+"used"), filepath.Join(base, scratchPrefix+"left")
	for _, dir := range []string{used, left} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := tryLock(filepath.Join(used, scratchLock))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	sweep(base, time.Hour)
	entries, _ := os.ReadDir(base)
	expect(t, "young ones", itoa(len(entries)), "2")
	sweep(base, 0)
	entries, _ = os.ReadDir(base)
	if len(entries) != 1 || filepath.Join(base, entries[0].Name()) != used {
		t.Error("left:", entries)
	}
}
