package inboxes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/scope"
)

// Sizes of the small scope. A claim asks for two messages.
const (
	scopeDepth = 8
	scopeLimit = 2
	scopeWalks = 30
)

// scopeInboxes are tried each by itself, as a tick works on all there are: in frail ones few attempts wear a message out.
var scopeInboxes = map[string]string{
	"plain":        "",
	"frail":        "max_attempts: 2",
	"turns":        "ordering: {sequence: number}",
	"frail_turns":  "max_attempts: 2, ordering: {sequence: number}",
	"urgent":       "priority: {tiers: default}",
	"frail_urgent": "max_attempts: 2, priority: {tiers: default}",
}

// TestSmallScope does all that a publisher and two workers of an inbox can do with three messages, in each state that fewer than eight actions lead to:
// receive, also late and twice; claim, lease, mark all or the first, fail, end without a mark, roll back, die, give back, lose a lease; tick, and let
// time pass. After each, nothing is lost, doubled, out of order or stalled. `make test` takes random walks of SLUICE_TEST_SEED.
func TestSmallScope(t *testing.T) {
	for inbox, options := range scopeInboxes {
		t.Run(inbox, func(t *testing.T) {
			extension := installed.Text(t, fmt.Sprintf("version: 1\nextension: {name: small, version: 1.0.0}\n"+
				"inboxes: [{name: %s, max_retries: 2, retry: {backoff: constant, initial: 2h}, %s}]\n", inbox, options))
			var systems []scope.System
			for range 2 {
				systems = append(systems, newSmall(t, installed.DB(t, extension), inbox))
			}
			scope.Try(t, systems, scopeDepth, scopeWalks)
		})
	}
}

// small is an inbox with the model of it.
type small struct {
	t  testing.TB
	db *pgtest.Database
	model
	inbox     string
	runs      int
	admin     *pgx.Conn
	publisher *pgx.Conn
	workers   map[string]*pgx.Conn
	open      map[string]bool // workers that have claimed and not ended
	lost      map[string]lost
}

// lost is a lease that a worker does not have any more.
type lost struct {
	id    int64
	event string
}

func newSmall(t testing.TB, db *pgtest.Database, inbox string) *small {
	s := &small{t: t, db: db, inbox: inbox, admin: db.Connect(t), publisher: db.Connect(t), workers: map[string]*pgx.Conn{}}
	for _, name := range []string{"a", "b", "z"} {
		s.workers[name] = db.Connect(t)
	}
	s.model = model{ordered: strings.HasSuffix(inbox, "turns"), maxRetries: 2, maxAttempts: 20}
	if strings.HasPrefix(inbox, "frail") {
		s.maxAttempts = 2
	}
	if err := s.tick(); err != nil { // the first one in a database does more, and waits for writers
		t.Fatal(err)
	}
	return s
}

// Start empties the inbox.
func (s *small) Start() error {
	s.runs++ // the last number of an aggregate outlives its messages
	x, y := fmt.Sprint("x", s.runs), fmt.Sprint("y", s.runs)
	s.messages = []*message{
		{id: "x1", aggregate: x, sequence: 1, state: "absent"}, {id: "x2", aggregate: x, sequence: 2, state: "absent"},
		{id: "y1", aggregate: y, sequence: 1, state: "absent"},
	}
	s.ticks, s.open, s.lost = 0, map[string]bool{}, map[string]lost{}
	sql := "truncate pgtrickle." + s.inbox
	if strings.HasSuffix(s.inbox, "urgent") { // what each sixteenth claim looks at follows from this
		sql += fmt.Sprintf("; select setval('pgtrickle_internal.%s_claim_turn', 1)", s.inbox)
	}
	return s.exec(s.admin, sql)
}

// Actions are "WHO VERB" or "WHO VERB MESSAGE": of sender, which commits at once, publisher, workers a and b, and clock.
func (s *small) Actions() (actions []string) {
	isOpen := slices.ContainsFunc(s.messages, func(m *message) bool { return m.state == "open" })
	if isOpen {
		actions = append(actions, "publisher commit", "publisher roll-back", "publisher die")
	}
	before := "" // in an inbox without an order, messages that are alike come in one order
	for _, m := range s.messages {
		// A claim that makes a message a dead letter has it until it ends, and what is received twice waits for that, as for a mark.
		waits := m.state == "pending" && s.isWorn(m) && (s.open["a"] || s.open["b"])
		if m.state != "open" && !waits && (s.ordered || before != "absent") {
			actions = append(actions, "sender receive "+m.id)
			if m.state == "absent" && !isOpen {
				actions = append(actions, "publisher receive "+m.id)
			}
		}
		before = m.state
	}
	for _, w := range []string{"a", "b"} {
		held := s.heldBy(w)
		switch {
		case s.open[w]:
			actions = append(actions, w+" mark", w+" fail", w+" end", w+" roll-back", w+" die")
			// How many a claim of frail_urgent returns depends on how far the last tick could see, beside transactions of other databases.
			if len(held) > 1 && s.inbox != "frail_urgent" {
				actions = append(actions, w+" mark-first")
			}
		case len(held) > 0:
			actions = append(actions, w+" mark", w+" fail", w+" release")
			if !held[0].expired {
				actions = append(actions, w+" expire")
			}
		case !s.isLeasedTo(w): // or else another's open transaction has it
			actions = append(actions, w+" claim", w+" lease")
		}
		if s.lost[w].id != 0 && !s.open[w] && s.find(s.lost[w].event).holder == "" {
			actions = append(actions, w+" stale")
		}
	}
	if slices.ContainsFunc(s.messages, func(m *message) bool { return m.delayed }) {
		actions = append(actions, "clock pass")
	}
	if s.ticks < 1 {
		actions = append(actions, "clock tick")
	}
	return actions
}

// Do does an action.
func (s *small) Do(action string) error {
	who, verb, _ := strings.Cut(action, " ")
	verb, id, _ := strings.Cut(verb, " ")
	if err := s.do(who, verb, id); err != nil {
		return err
	}
	return s.look()
}

func (s *small) do(who, verb, id string) error {
	switch who {
	case "sender", "publisher":
		return s.publish(who, verb, id)
	case "clock":
		if verb == "tick" {
			s.ticks++
			return s.tick()
		}
		return s.pass()
	}
	return s.work(who, verb)
}

// State is the same for workers that are in each other's state.
func (s *small) State() string {
	of := func(a, b string) string {
		name := map[string]string{"": "-", "a": a, "b": b}
		sides := []string{fmt.Sprint(name["a"], s.open["a"], s.lost["a"].id != 0), fmt.Sprint(name["b"], s.open["b"], s.lost["b"].id != 0)}
		slices.Sort(sides)
		return s.text(name) + strings.Join(sides, "")
	}
	return min(of("a", "b"), of("b", "a"))
}
