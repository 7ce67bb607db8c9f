package oracle

import (
	"context"
	"errors"
	"time"
)

// install makes the stream tables, without those that the subject says it does not support.
func (t *trial) install(ctx context.Context) error {
	for t.subject != nil {
		err := t.subject.Install(ctx, t.owner, t.c.DDL(), t.definitions(), t.mode)
		var unsupported Unsupported
		switch {
		case err == nil:
			t.result.Stats.supported(t.c, t.views)
			return t.compareShapes(ctx)
		case errors.As(err, &unsupported) && t.leave(unsupported):
		default:
			return t.fail(Install, "", -1, err)
		}
	}
	return nil
}

// definitions are the views as the subject gets them.
func (t *trial) definitions() []View {
	var views []View
	for _, c := range t.views {
		v := t.c.View(c.view)
		views = append(views, View{Name: v.Name, Query: t.c.SQL(v, t.subject.Relation), Reads: t.c.Reads(v), Tree: v})
	}
	return views
}

// leave takes out views, and those that read them. It reports whether there were any.
func (t *trial) leave(unsupported Unsupported) bool {
	kept, left := []*comparison{}, []*comparison{}
	for _, c := range t.views {
		if t.c.Needs(c.view, func(name string) bool { return unsupported[name] != "" }) {
			left = append(left, c)
		} else {
			kept = append(kept, c)
		}
	}
	t.result.Stats.unsupported(t.c, left)
	t.views = kept
	return len(left) > 0
}

// compareShapes looks at names and types of columns.
func (t *trial) compareShapes(ctx context.Context) error {
	relations := map[string]string{}
	for _, c := range t.views {
		c.relation = t.subject.Relation(c.view)
		relations[c.view] = c.relation
	}
	found, err := shapes(ctx, t.owner, relations)
	if err != nil {
		return t.fail(Unread, "", -1, err)
	}
	for _, c := range t.views {
		if message := shapeDifference(c.columns, found[c.view]); message != "" {
			t.result.Failure = &Failure{Kind: Columns, View: c.view, Item: -1, Message: message}
			return nil
		}
	}
	return nil
}

// initial compares what Install has filled.
func (t *trial) initial(ctx context.Context) error { return t.check(ctx, -1) }

// check refreshes and compares.
func (t *trial) check(ctx context.Context, item int) error {
	if t.subject == nil || len(t.views) == 0 || t.owner.PgConn().TxStatus() == 'E' {
		return nil
	}
	if t.mode == AtCommit && t.owner.PgConn().TxStatus() == 'T' {
		if t.c.Seed%2 == 0 || t.beside != nil { // the other transaction stays open: a statement that waits for it would not end
			return nil
		}
		if err := t.shielded(ctx, func() error { return run(ctx, t.owner, "set constraints sl_internal.pgt_at_commit immediate") }); err != nil {
			return t.fail(Refresh, "", item, err)
		}
	}
	for _, c := range t.views {
		if t.mode == Immediate || t.mode == AtCommit {
			break
		}
		began := time.Now()
		if err := t.subject.Refresh(ctx, t.owner, c.view); err != nil {
			if t.beside != nil && state(err) == lockTimeout { // that a refresh sets; one that is canceled computes for too long
				t.result.Failure = &Failure{Kind: Waits, View: c.view, Item: item}
				return nil
			}
			return t.fail(Refresh, c.view, item, err)
		}
		t.result.Stats.refreshed(t, c.view, item, time.Since(began))
	}
	verdicts, err := t.compareAll(ctx)
	if err != nil {
		return t.compareEach(ctx, item)
	}
	for _, c := range t.views {
		if t.judge(c, verdicts[c.view]); verdicts[c.view].differ > 0 {
			return t.differs(ctx, c, item)
		}
	}
	return nil
}

// judge counts a comparison.
func (t *trial) judge(c *comparison, v verdict) {
	s := &t.result.Stats
	s.Comparisons++
	if v.rows == 0 {
		s.Vacuous++
	}
	if last, ok := t.last[c.view]; ok && last == v {
		s.Unchanged++
	}
	t.last[c.view] = v
}

func (t *trial) differs(ctx context.Context, c *comparison, item int) error {
	rows, err := differences(ctx, t.owner, *c)
	if err != nil {
		return t.fail(Unread, c.view, item, err)
	}
	t.result.Failure = &Failure{Kind: Differs, View: c.view, Item: item, Rows: rows}
	return nil
}

// compareAll compares without ending the transaction that is open, whatever happens.
func (t *trial) compareAll(ctx context.Context) (verdicts map[string]verdict, err error) {
	var all []comparison
	for _, c := range t.views {
		all = append(all, *c)
	}
	return verdicts, t.shielded(ctx, func() error {
		verdicts, err = compare(ctx, t.owner, all)
		return err
	})
}

func (t *trial) shielded(ctx context.Context, f func() error) error {
	if t.owner.PgConn().TxStatus() != 'T' {
		return f()
	}
	if err := run(ctx, t.owner, "savepoint oracle"); err != nil {
		return err
	}
	if err := f(); err != nil {
		if undo := run(ctx, t.owner, "rollback to oracle; release oracle"); undo != nil {
			return undo
		}
		return err
	}
	return run(ctx, t.owner, "release oracle")
}

// compareEach finds the relation that cannot be read.
func (t *trial) compareEach(ctx context.Context, item int) error {
	for _, c := range t.views {
		err := t.shielded(ctx, func() error {
			_, err := compare(ctx, t.owner, []comparison{*c})
			return err
		})
		if err != nil {
			return t.fail(Unread, c.view, item, err)
		}
	}
	return nil
}
