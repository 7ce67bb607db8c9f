package groups

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/scope"
)

// Sizes of the small scope. A poll asks for two rows.
const (
	scopeDepth  = 8
	scopeEvents = 3
	scopeBatch  = 2
	scopeWalks  = 40
)

// TestSmallScope does all that two publishers and two consumers of a group can do with three events, in each state that fewer than eight actions lead to:
// publish, commit, roll back and die; poll, also in a transaction that stays open, commit all or the first row, also in a transaction that stays open, give
// back, die, lose a lease. After each, nothing is lost, doubled, out of order or stalled. `make test` takes random walks of SLUICE_TEST_SEED.
func TestSmallScope(t *testing.T) {
	extension := installed.Text(t, spec)
	for _, outbox := range []string{"feed", "keyed"} {
		t.Run(outbox, func(t *testing.T) {
			var systems []scope.System
			for range 2 {
				db := installed.DB(t, extension)
				db.Exec(t, "update pgtrickle.pgt_settings set value = '1' where name = 'poll_wait_ms'")
				systems = append(systems, &small{t: t, world: newWorld(t, db, outbox)})
			}
			scope.Try(t, systems, scopeDepth, scopeWalks)
		})
	}
}

// small is a group on an outbox with the model of it.
type small struct {
	*world
	t     testing.TB
	g     *group
	polls map[string][]granted // what consumers were granted in transactions that are open
}

// Start drops what there is and makes the group anew.
func (s *small) Start() error {
	s.trace.Reset()
	s.rand = rand.New(rand.NewPCG(0, 0)) // of the lease that a stale process knows
	s.events, s.pending, s.polls, s.groups = map[int64]*event{}, map[string]*business{}, map[string][]granted{}, nil
	return s.guarded(func() {
		s.exec(s.admin, "select pgtrickle.drop_consumer_group('g', true)")
		s.exec(s.admin, fmt.Sprintf("delete from pgtrickle.outbox_%s", s.outbox))
		s.exec(s.admin, "select pgtrickle.create_consumer_group('g', $1, 'earliest')", s.outbox)
		s.g = &group{name: "g", dead: map[int64]bool{}, lost: map[string][]int64{}, ended: map[string]int64{}, repeat: map[string]int64{}}
		s.g.start(s.events, 0)
	})
}

// Actions are "WHO VERB" or "WHO VERB KEY"; publishers are 0 and 1, consumers a and b.
func (s *small) Actions() (actions []string) {
	for n, p := range s.publishers[:2] {
		switch {
		case p.open != nil:
			actions = append(actions, fmt.Sprint(n, " commit"), fmt.Sprint(n, " roll-back"), fmt.Sprint(n, " die"))
		case len(s.events) < scopeEvents && s.keyed:
			actions = append(actions, fmt.Sprint(n, " publish x"), fmt.Sprint(n, " publish y"))
		case len(s.events) < scopeEvents:
			actions = append(actions, fmt.Sprint(n, " publish x"))
		}
	}
	for _, c := range []string{"a", "b"} {
		open := s.polls[c] != nil || s.pending[c] != nil
		switch held := s.g.commits(c, nobodys); {
		case open:
			actions = append(actions, c+" end", c+" roll-back", c+" die")
		case s.takenOver(c):
			actions = append(actions, c+" poll") // all else would wait for the other's transaction
		case len(held) > 1:
			actions = append(actions, c+" commit-first")
			fallthrough
		case len(held) > 0:
			actions = append(actions, c+" poll", c+" open-poll", c+" commit", c+" open-commit", c+" release")
			if !s.isExpired(c) {
				actions = append(actions, c+" expire")
			}
		default:
			actions = append(actions, c+" poll", c+" open-poll")
		}
		if !open && len(s.g.lost[c]) > 0 && len(s.polls) == 0 {
			actions = append(actions, c+" stale")
		}
	}
	return actions
}

// takenOver reports that another consumer's poll in an open transaction was granted some of what a consumer holds.
func (s *small) takenOver(consumer string) bool {
	for _, got := range s.polls {
		for _, r := range got {
			if l := s.g.of(r.ID); l != nil && l.owner == consumer {
				return true
			}
		}
	}
	return false
}

func (s *small) isExpired(consumer string) bool {
	return !slices.ContainsFunc(s.g.held(consumer), func(l *lease) bool { return !l.expired })
}

// Do does an action.
func (s *small) Do(action string) error {
	who, verb, _ := strings.Cut(action, " ")
	verb, key, _ := strings.Cut(verb, " ")
	return s.guarded(func() {
		if n, err := strconv.Atoi(who); err == nil {
			s.publisher(s.publishers[n], verb, key)
		} else {
			s.consumer(who, verb)
		}
		s.look(s.g)
	})
}

func (s *small) publisher(p *publisher, verb, key string) {
	switch verb {
	case "publish":
		s.exec(p.conn, "begin")
		e := &event{id: one[int64](s.world, p.conn, "select pgtrickle.outbox_publish($1, 't', '{}', $2)", s.outbox, key), key: key, lane: s.lane(key)}
		s.events[e.id] = e
		p.open = &transaction{events: []*event{e}, keys: map[string]bool{key: true}}
		return
	case "commit":
		s.exec(p.conn, "commit")
		s.show(p.open)
	case "roll-back":
		s.exec(p.conn, "rollback")
		s.hide(p.open)
	case "die":
		s.kill(s.t, &p.conn)
		s.hide(p.open)
	}
	p.open = nil
}

func (s *small) consumer(c, verb string) {
	ids := s.g.commits(c, nobodys)
	switch verb {
	case "poll", "open-poll":
		s.pollSmall(c, verb == "open-poll")
	case "commit-first":
		s.commitSmall(c, ids[:1], false)
	case "commit", "open-commit":
		s.commitSmall(c, ids, verb == "open-commit")
	case "release":
		s.releaseSmall(c, ids)
	case "expire":
		s.expire(s.g, c)
	case "stale":
		s.stale(s.g, c)
	default:
		s.end(c, verb)
	}
}

// State names events by their order, and of publishers and of consumers that are in the same state either.
func (s *small) State() string {
	least := ""
	for _, publishers := range []string{"01", "10"} {
		for _, consumers := range []string{"ab", "ba"} {
			if text := s.text(publishers, consumers); least == "" || text < least {
				least = text
			}
		}
	}
	return least
}
