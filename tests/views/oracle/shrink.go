package oracle

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pgsluice/sluice/tests/views/oracle/cases"
	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// shrinker makes a case smaller that fails, as long as it fails in the same way.
type shrinker struct {
	*Place
	ctx     context.Context
	c       *cases.Case
	subject Subject
	mode    string
	failure *Failure
	end     time.Time
	err     error
}

// Shrink makes a case smaller that fails, for so long at most. It returns the failure of what is left.
func (p *Place) Shrink(ctx context.Context, c *cases.Case, subject Subject, mode string, f *Failure, limit time.Duration) (*cases.Case, *Failure, error) {
	s := &shrinker{Place: p, ctx: ctx, c: c.Clone(), subject: subject, mode: mode, failure: f, end: time.Now().Add(limit)}
	s.cut()
	for again := true; again; {
		again = false
		for _, smaller := range []func() bool{s.steps, s.tables, s.rows, s.view, s.statements, s.columns} {
			again = smaller() || again
		}
	}
	return s.c, s.failure, s.err
}

// still reports whether the case fails in the same way as before.
func (s *shrinker) still() bool {
	if s.err != nil || time.Now().After(s.end) {
		return false
	}
	var want *Outcome
	if s.failure.Kind == Writer || s.failure.Kind == Sources {
		plain, err := s.Plain(s.ctx, s.c)
		if err != nil || plain.Failure != nil {
			s.err = err
			return false
		}
		want = &plain.Outcome
	}
	r, err := s.Run(s.ctx, s.c, s.subject, s.mode, want)
	if err != nil {
		s.err = err
		return false
	}
	f := r.Failure
	if f == nil || f.Kind != s.failure.Kind || f.View != s.failure.View || len(r.Stats.Invalid) > 0 || s.nonsense(r) {
		return false
	}
	s.failure = f
	return true
}

// nonsense reports whether statements fail for the reason that something they speak of has been removed.
func (s *shrinker) nonsense(r *Result) bool {
	return slices.ContainsFunc(r.Outcome.States, func(state string) bool {
		return strings.HasPrefix(state, "42") || strings.HasPrefix(state, "client") || state == "22P04"
	})
}

// cut leaves the view that fails and what it reads, and nothing that comes after the failure.
func (s *shrinker) cut() {
	if v := s.c.View(s.failure.View); v != nil {
		needed := append(s.c.Reads(v), v.Name)
		try(s, &s.c.Views, slices.DeleteFunc(slices.Clone(s.c.Views), func(v *cases.View) bool { return !slices.Contains(needed, v.Name) }))
	}
	left := s.failure.Item + 1
	var steps []*cases.Step
	for _, step := range s.c.Steps {
		if left > 0 {
			steps = append(steps, &cases.Step{Items: step.Items[:min(left, len(step.Items))]})
		}
		left -= len(step.Items)
	}
	try(s, &s.c.Steps, steps)
	s.lastCheckOnly()
	try(s, &s.c.Rows, nil)
	tree.Shorten(&s.c.Views, 0, s.still)
	s.inline()
	s.inlinePlain()
}

// inline puts the queries of stream tables that the view reads in their places.
func (s *shrinker) inline() {
	v := s.c.View(s.failure.View)
	if v == nil || len(s.c.Views) < 2 {
		return
	}
	before := s.c.Clone()
	for n := range v.Query.All() {
		if name, ok := strings.CutPrefix(n.Tag, "view "); ok {
			*n = *tree.New("relation", "(§)", s.c.View(name).Query.Clone())
		}
	}
	s.c.Views = []*cases.View{v}
	if !s.still() {
		s.c = before
	}
}

// inlinePlain puts the queries of plain views where stream tables read those.
func (s *shrinker) inlinePlain() {
	for _, v := range s.c.Views {
		for n := range v.Query.All() {
			query := s.c.PlainView(n.Tag)
			if query == nil {
				continue
			}
			old := *n
			*n = *tree.New("relation", "(§)", query.Clone())
			if !s.still() {
				*n = old
			}
		}
	}
}

// try puts a value in the place of another, for good if the case still fails.
func try[T any](s *shrinker, place *T, value T) bool {
	old := *place
	*place = value
	if s.still() {
		return true
	}
	*place = old
	return false
}
