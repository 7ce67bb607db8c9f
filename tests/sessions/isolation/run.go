package isolation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

// stepTimeout is how long a step may run that waits for no other session.
const stepTimeout = 30 * time.Second

// RunDir runs every case of a directory as a subtest, side by side.
func RunDir(t *testing.T, dir string, db func(t testing.TB) *pgtest.Database) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			pgtest.Parallel(t)
			Run(t, db, path)
		})
	}
}

// Run runs the case in a file: without long rows every other permutation, those of odd and of even versions of the server by turns. Each gets a database
// of its own from db, as from pgtest.DB with the template of what the case is about.
func Run(t testing.TB, db func(t testing.TB) *pgtest.Database, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(text)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	all := golden.Update() || len(s.permutations) == 1 || len(s.permutations) != len(s.outputs())
	var got, want []string
	for n, names := range s.permutations {
		if !all && !pgtest.Chosen(n+pgtest.Server(t).Major, 2) {
			continue
		}
		got = append(got, startOfPermutation+strings.Join(names, " ")+"\n"+permute(t, s, db(t), names))
		if !all {
			want = append(want, s.outputs()[n])
		}
	}
	switch {
	case golden.Update():
		if err := os.WriteFile(path, s.withOutput(strings.Join(got, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	case all:
		golden.CompareText(t, path, strings.Join(got, "\n"), s.output)
	default:
		golden.CompareText(t, path, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// run is one permutation at work.
type run struct {
	t        testing.TB
	monitor  *pgx.Conn
	pids     []uint32
	sessions map[string]*session
	waiting  []*session // in the order in which their steps began
	out      strings.Builder
}

// session is a connection and the step that runs in it.
type session struct {
	*pgtest.Session
	step   string
	result chan string // holds the answer when the step is over; nil when idle
}

// permute runs one permutation in db and returns its output.
func permute(t testing.TB, s *spec, db *pgtest.Database, names []string) string {
	t.Helper()
	run := &run{t: t, monitor: pgtest.Connect(t, db.SuperDSN()), sessions: map[string]*session{}}
	runQuietly(t, db, s.setup)
	for _, spec := range s.sessions {
		run.open(db, spec)
	}
	for _, name := range names {
		run.step(s.steps[name])
	}
	run.finish()
	runQuietly(t, db, s.teardown)
	return run.out.String()
}

// runQuietly runs setup or teardown, which must not fail.
func runQuietly(t testing.TB, db *pgtest.Database, sql string) {
	t.Helper()
	for _, statement := range pgtest.Split(sql) {
		db.Exec(t, statement)
	}
}

func (r *run) open(db *pgtest.Database, spec sessionSpec) {
	r.t.Helper()
	dsn := db.DSN()
	if spec.role != "" {
		dsn = db.SuperDSN("user=" + spec.role)
	}
	s := &session{Session: pgtest.OpenSession(r.t, dsn, spec.name)}
	r.sessions[spec.name] = s
	r.pids = append(r.pids, s.PID())
	if said := s.Run(r.t.Context(), spec.setup); strings.Contains(said, "ERROR") {
		r.t.Fatalf("setup of session %s: %s", spec.name, said)
	}
}

// step starts a step and waits until it is over or waits for another session;
// then it looks which of the waiting steps it has set free. A step of a session
// that is still at work waits until that is over.
func (r *run) step(st step) {
	r.t.Helper()
	s := r.sessions[st.session]
	if s.result != nil {
		r.await(s, false)
	}
	s.step, s.result = st.name, make(chan string, 1)
	go func(result chan string) { result <- s.Run(r.t.Context(), st.sql) }(s.result)
	answer, over := r.settle(s, true)
	if over {
		fmt.Fprintf(&r.out, "step %s: %s\n%s", st.name, st.sql, answer)
	} else {
		fmt.Fprintf(&r.out, "step %s: %s <waiting ...>\n", st.name, st.sql)
		r.waiting = append(r.waiting, s)
	}
	r.release()
}

// release reports the waiting steps that are over, again and again, since the
// end of one may set another free.
func (r *run) release() {
	for again := true; again; {
		again = false
		for _, s := range append([]*session(nil), r.waiting...) {
			if r.await(s, true) {
				again = true
			}
		}
	}
}

// await reports the end of a waiting step. If the step may go on waiting and
// does, it returns false.
func (r *run) await(s *session, mayWait bool) bool {
	answer, over := r.settle(s, mayWait)
	if !over {
		return false
	}
	fmt.Fprintf(&r.out, "step %s: <... completed>\n%s", s.step, answer)
	for i, other := range r.waiting {
		if other == s {
			r.waiting = append(r.waiting[:i:i], r.waiting[i+1:]...)
			break
		}
	}
	return true
}

// settle waits until the step of a session is over, or, if it may wait, until
// it waits for a lock that another session of the case holds.
func (r *run) settle(s *session, mayWait bool) (answer string, over bool) {
	r.t.Helper()
	deadline := time.After(stepTimeout)
	for {
		select {
		case answer = <-s.result:
			s.result = nil
			return answer, true
		case <-deadline:
			r.t.Fatalf("step %s neither ends nor waits for another session; so far:\n%s", s.step, r.out.String())
		case <-time.After(5 * time.Millisecond):
		}
		if mayWait && r.blocked(s) {
			return "", false
		}
	}
}

// blocked asks the server what its own isolation tester asks it.
func (r *run) blocked(s *session) bool {
	const query = "select pg_isolation_test_session_is_blocked($1, $2)"
	return pgtest.One[bool](r.t, r.monitor, query, int32(s.PID()), r.pids)
}

// finish waits for the steps that still wait, and says which wait in vain.
func (r *run) finish() {
	r.t.Helper()
	for _, s := range append([]*session(nil), r.waiting...) {
		if !r.await(s, true) {
			r.t.Errorf("step %s still waits at the end of the permutation", s.step)
		}
	}
	for _, s := range r.sessions {
		s.Conn.Close(context.Background())
	}
}
