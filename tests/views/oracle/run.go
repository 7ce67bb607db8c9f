package oracle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// Kind is a kind of failure.
type Kind string

// The kinds of failures.
const (
	Differs     Kind = "differs from its query"
	Columns     Kind = "has other columns than its query"
	Install     Kind = "cannot be installed"
	Refresh     Kind = "cannot be refreshed"
	Unread      Kind = "cannot be read"
	Waits       Kind = "waits for another session's transaction"
	Writer      Kind = "makes a statement of the application end otherwise"
	Sources     Kind = "changes the application's tables"
	slow        Kind = "takes too long" // no failure: the case is left
	badCase     Kind = "is no good"     // no failure either, but for who changes the generator
	noServer         = "57P"            // how SQLSTATEs begin that end everything
	canceled         = "57014"
	lockTimeout      = "55P03"
)

// Failure is what must not happen.
type Failure struct {
	Kind    Kind
	View    string   // empty if it is not about one
	Item    int      // after which of the case's items; -1: before the first
	Message string   // of the server, or what is wrong
	Rows    []string // that differ
}

func (f *Failure) String() string {
	lines := append([]string{strings.TrimSpace(f.View + " " + string(f.Kind))}, f.Rows...)
	if f.Message != "" {
		lines = slices.Insert(lines, 1, f.Message)
	}
	return strings.Join(lines, "\n")
}

// Outcome is how a case ends for the application.
type Outcome struct {
	States []string          // the SQLSTATE of each item, empty for success
	Tables map[string]string // what is in each table at the end
}

// Result is what came of a case.
type Result struct {
	Failure *Failure
	Outcome Outcome
	Stats   Stats
}

// trial is a subject at work on a case.
type trial struct {
	*Place
	c       *cases.Case
	subject Subject // nil: there are no stream tables
	mode    string
	want    *Outcome // nil: it does not matter
	views   []*comparison
	last    map[string]verdict
	result  *Result
}

// Plain runs a case without stream tables.
func (p *Place) Plain(ctx context.Context, c *cases.Case) (*Result, error) {
	return p.Run(ctx, c, nil, "", nil)
}

// Run lets a subject work on a case. The application's statements should end as in want, if that is not nil. Views whose own
// query ends with an error where the subject does are left out. The error is that of a server that is gone.
func (p *Place) Run(ctx context.Context, c *cases.Case, subject Subject, mode string, want *Outcome) (*Result, error) {
	t := &trial{Place: p, c: c, subject: subject, mode: mode, want: want, last: map[string]verdict{}, result: &Result{}}
	err := t.run(ctx)
	f := t.result.Failure
	switch {
	case err != nil || f == nil:
		return t.result, err
	case f.Kind == slow:
		t.result.Stats.Slow, t.result.Failure = []string{fmt.Sprintf("seed %d, %s, item %d: %s", c.Seed, mode, f.Item, f)}, nil
		return t.result, nil
	case subject == nil || f.Kind == Differs || f.Kind == Columns || f.Kind == Sources:
		return t.result, nil
	}
	raising, err := p.raising(ctx, c, f.Item)
	if err != nil || len(raising) == 0 {
		return t.result, err
	}
	less := c.Without(func(name string) bool { return slices.Contains(raising, name) })
	r, err := p.Run(ctx, less, subject, mode, want)
	if r != nil {
		r.Stats.QueryErrors += len(c.Views) - len(less.Views)
	}
	return r, err
}

func (t *trial) run(ctx context.Context) error {
	steps := []func(context.Context) error{t.prepare, t.install, t.initial, t.items, t.end}
	for _, step := range steps {
		if err := step(ctx); err != nil || t.result.Failure != nil {
			return err
		}
	}
	return nil
}

// fail notes a failure. It returns an error if the server is gone, so that nothing can be said.
func (t *trial) fail(kind Kind, view string, item int, err error) error {
	f := &Failure{Kind: kind, View: view, Item: item}
	if err != nil {
		f.Message = pgtest.ErrorText(err)
		switch code := state(err); {
		case code == canceled:
			f.Kind = slow
		case code == "" && t.owner.IsClosed(), strings.HasPrefix(code, noServer):
			return err
		}
	}
	t.result.Failure = f
	return nil
}

// prepare makes the tables, and finds out which views are valid and what columns they have.
func (t *trial) prepare(ctx context.Context) error {
	if err := t.Reset(ctx); err != nil {
		return err
	}
	if err := run(ctx, t.owner, t.c.DDL()+t.c.Inserts()); err != nil {
		return t.fail(badCase, "", -1, err)
	}
	if t.subject == nil {
		return nil
	}
	return t.valid(ctx)
}

// valid makes each view, to see whether the server takes it.
func (t *trial) valid(ctx context.Context) error {
	if err := run(ctx, t.owner, "begin"); err != nil {
		return err
	}
	made := map[string]string{}
	for _, v := range t.c.Views {
		t.result.Stats.Views++
		name := "pg_temp.oracle_" + v.Name
		if err := run(ctx, t.owner, "savepoint v"); err != nil { // by itself, as a syntax error in what follows would undo it
			return err
		}
		err := run(ctx, t.owner, "create view "+name+" as "+t.c.Truth(v))
		if err != nil {
			t.result.Stats.invalid(t.c.Seed, v, err)
			err = run(ctx, t.owner, "rollback to v")
		} else {
			made[v.Name] = name
		}
		if err != nil {
			return err
		}
	}
	found, err := shapes(ctx, t.owner, made)
	if err != nil {
		return err
	}
	for _, v := range t.c.Views {
		if made[v.Name] != "" {
			t.views = append(t.views, &comparison{view: v.Name, query: t.c.Truth(v), columns: found[v.Name]})
		}
	}
	return run(ctx, t.owner, "rollback")
}

// items runs the steps of the case.
func (t *trial) items(ctx context.Context) error {
	for n, item := range t.c.Items() {
		state := ""
		if item.Kind == cases.Check {
			if err := t.check(ctx, n); err != nil || t.result.Failure != nil {
				return err
			}
		} else if t.Major >= item.Since {
			err := t.do(ctx, item)
			if state = stateOf(err); err != nil && t.owner.IsClosed() {
				return err
			}
			if stop, err := t.ended(n, item, state, err); stop {
				return err
			}
		}
		t.result.Outcome.States = append(t.result.Outcome.States, state)
	}
	return nil
}

// stateOf is a SQLSTATE also for errors that are not the server's.
func stateOf(err error) string {
	if err != nil && state(err) == "" {
		return "client: " + err.Error()
	}
	return state(err)
}

func (t *trial) do(ctx context.Context, item *cases.Item) error {
	switch item.Kind {
	case cases.Beside:
		return t.another(ctx, item.SQL.String())
	case cases.Copy:
		_, err := t.owner.PgConn().CopyFrom(ctx, strings.NewReader(item.Data.String()), item.SQL.String())
		return err
	}
	return run(ctx, t.owner, item.SQL.String())
}

// another runs SQL in the session beside the owner's.
func (t *trial) another(ctx context.Context, sql string) error {
	if t.beside == nil {
		conn, err := pgx.Connect(ctx, t.dsn)
		if err != nil {
			return err
		}
		t.beside = conn
	}
	return run(ctx, t.beside, sql)
}

// violates reports whether a statement ended as its rows violate a constraint. Which of several constraints COPY finds first is left to PostgreSQL: it checks
// rows by the hundreds, and one after the other where a trigger of the table wants that, ours or not.
func violates(state string) bool { return strings.HasPrefix(state, "23") }

// ended looks at how a statement of the application has ended. It reports whether to stop.
func (t *trial) ended(n int, item *cases.Item, state string, cause error) (bool, error) {
	if item.Kind != cases.Control {
		t.result.Stats.Statements++
	}
	if state != "" {
		t.result.Stats.failed(state)
	}
	if state == canceled {
		return true, t.fail(slow, "", n, cause)
	}
	if t.want == nil || t.want.States[n] == state || item.Kind == cases.Copy && violates(t.want.States[n]) && violates(state) {
		return false, nil
	}
	if err := t.fail(Writer, "", n, cause); err != nil {
		return true, err
	}
	t.result.Failure.Message = strings.TrimSpace(fmt.Sprintf("SQLSTATE %q rather than %q\n%s", state, t.want.States[n], t.result.Failure.Message))
	return true, nil
}

// end compares the application's tables with what they should be.
func (t *trial) end(ctx context.Context) error {
	if err := t.leaveBeside(ctx); err != nil {
		return err
	}
	if t.owner.PgConn().TxStatus() != 'I' { // of a case that was made smaller
		if err := run(ctx, t.owner, "rollback"); err != nil {
			return err
		}
	}
	var parts []string
	for _, name := range t.c.TableNames() {
		parts = append(parts, fmt.Sprintf("select %s, count(*) || ' rows ' || coalesce(sum(hashtextextended(x::text, 0)::numeric), 0) from %s x", literal(name), name))
	}
	if len(parts) == 0 {
		return nil
	}
	rows, err := texts(ctx, t.owner, strings.Join(parts, " union all "))
	if err != nil {
		return t.fail(badCase, "", len(t.c.Items()), err)
	}
	t.result.Outcome.Tables = map[string]string{}
	for _, row := range rows {
		t.result.Outcome.Tables[row[0]] = row[1]
		if t.want != nil && t.want.Tables[row[0]] != row[1] && t.result.Failure == nil {
			t.result.Failure = &Failure{Kind: Sources, Item: len(t.c.Items()) - 1, Message: "table " + row[0]}
		}
	}
	return nil
}
