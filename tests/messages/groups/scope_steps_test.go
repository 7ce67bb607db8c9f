package groups

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// guarded returns what a step finds broken.
func (s *small) guarded(step func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			b, ok := p.(broken)
			if !ok {
				panic(p)
			}
			err = b.error
			s.reset(s.t)
		}
	}()
	step()
	return nil
}

// isBusy reports that a statement failed as another poll holds the group.
func isBusy(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.Code == "55P03"
}

// pollSmall polls for two rows. Beside another's open poll it returns nothing, or fails.
func (s *small) pollSmall(c string, open bool) {
	s.exec(s.admin, "update pgtrickle_internal.pgt_lease_log set until = '-infinity' where state = 'gap' and until > '-infinity' and until < 'infinity'")
	conn := s.consumers[c]
	if open {
		s.exec(conn, "begin")
	}
	rows, err := conn.Query(s.ctx, "select id, aggregate_id, attempts, lease_id from pgtrickle.poll_outbox('g', $1, $2, 3600)", c, scopeBatch)
	var got []granted
	if err == nil {
		got, err = pgx.CollectRows(rows, pgx.RowToStructByPos[granted])
	}
	if held := len(s.polls) > 0; held && len(got) == 0 && (err == nil || isBusy(err)) {
		if open {
			s.exec(conn, "rollback")
		}
		return
	} else if held || err != nil {
		s.failf("%s polls beside %v: %v (%v)", c, s.polls, got, err)
	}
	s.notef("%s: poll %v", c, got)
	if open {
		s.polls[c] = got
		return
	}
	held := len(s.g.held(c)) > 0
	taken := slices.ContainsFunc(got, func(r granted) bool { return s.g.of(r.ID) != nil })
	s.granted(c, got)
	if !held && (len(got) == 0 || len(got) < scopeBatch && (s.keyed || !taken)) {
		s.complete(s.g, nil, got, nobodys)
	}
}

// granted notes what a poll that is committed was granted.
func (s *small) granted(c string, got []granted) {
	if err := s.g.grant(s.events, c, scopeBatch, got); err != nil {
		s.failf("%s: %w", c, err)
	}
}

// commitSmall commits ids from the first on.
func (s *small) commitSmall(c string, ids []int64, open bool) {
	conn, last := s.consumers[c], ids[len(ids)-1]
	s.exec(conn, "begin")
	if got := one[int64](s.world, conn, "select pgtrickle.commit_offset('g', $1, $2)", c, last); got != last {
		s.failf("%s: commit of %v returned %d", c, ids, got)
	}
	b := &business{group: s.g, ids: ids}
	for _, l := range s.g.leases {
		if l.owner == c && l.first() <= last {
			l.pending = true
			b.leases = append(b.leases, l)
		}
	}
	s.pending[c] = b
	if !open {
		s.end(c, "end")
	}
}

func (s *small) releaseSmall(c string, ids []int64) {
	var got int64
	err := s.consumers[c].QueryRow(s.ctx, "select pgtrickle.release_rows('g', $1)", c).Scan(&got)
	switch {
	case len(s.polls) > 0 && isBusy(err):
	case len(s.polls) > 0 || err != nil || got != int64(len(ids)):
		s.failf("%s: release of %v returned %d beside %v: %v", c, ids, got, s.polls, err)
	default:
		s.g.release(ids, ids, true, false)
	}
}

// end ends the open transaction of a consumer: by a commit, a rollback, or its death.
func (s *small) end(c, how string) {
	conn := s.consumers[c]
	switch how {
	case "end":
		s.exec(conn, "commit")
	case "die":
		s.kill(s.t, &conn)
		s.consumers[c] = conn
	default:
		s.exec(conn, "rollback")
	}
	got, polled := s.polls[c]
	b := s.pending[c]
	delete(s.polls, c)
	delete(s.pending, c)
	if polled && how == "end" {
		s.granted(c, got)
	} else if b != nil {
		for _, l := range b.leases {
			l.pending = false
		}
		if how == "end" {
			s.g.committed(c, b.ids)
			s.g.end(b.ids, s.g.done)
		}
	}
}

// Finish commits what publishers and ends what consumers have open, lets leases run out, and handles all there is.
func (s *small) Finish() error {
	return s.guarded(func() {
		for _, p := range s.publishers[:2] {
			if p.open != nil {
				s.publisher(p, "commit", "")
			}
		}
		for _, c := range []string{"a", "b"} {
			if s.polls[c] != nil || s.pending[c] != nil {
				s.end(c, "roll-back")
			}
		}
		for _, c := range []string{"a", "b"} {
			s.expire(s.g, c)
		}
		s.pollSmall("z", false)
		for ids := s.g.commits("z", nobodys); len(ids) > 0; ids = s.g.commits("z", nobodys) {
			s.commitSmall("z", ids, false)
			s.pollSmall("z", false)
		}
		for _, e := range s.events {
			if s.g.wants(e) {
				s.failf("id %d is not delivered in the end", e.id)
			}
		}
		s.look(s.g)
	})
}

// text is the state with other names of publishers and consumers.
func (s *small) text(publishers, consumers string) string {
	var b strings.Builder
	name := func(c string) string {
		if c == "" {
			return "-"
		}
		return consumers[c[0]-'a' : c[0]-'a'+1]
	}
	order, of := slices.Sorted(maps.Keys(s.events)), map[*lease]int{}
	for n, id := range order {
		e := s.events[id]
		fmt.Fprintf(&b, "%s", e.key)
		switch l := s.g.of(id); {
		case e.deleted:
			b.WriteString("x")
		case s.g.done[id]:
			b.WriteString("d")
		case !e.visible:
			for n, p := range s.publishers[:2] {
				if p.open != nil && p.open.events[0] == e {
					b.WriteByte(publishers[n])
				}
			}
		case l != nil:
			if of[l] == 0 {
				of[l] = n + 1
			}
			fmt.Fprintf(&b, "%d%s%d%v%v", s.g.tries[id], name(l.owner), of[l], l.expired, l.pending)
		default:
			fmt.Fprintf(&b, "%d", s.g.tries[id])
		}
	}
	var lines []string
	for _, c := range []string{"a", "b"} {
		line := fmt.Sprintf(" %s%d", name(c), min(len(s.g.lost[c]), 1))
		if got, open := s.polls[c]; open {
			line += "p"
			for _, r := range got {
				line += fmt.Sprint(slices.Index(order, r.ID))
			}
		} else if p := s.pending[c]; p != nil {
			line += fmt.Sprint("c", len(p.ids))
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, cmp.Compare[string])
	return b.String() + strings.Join(lines, "")
}
