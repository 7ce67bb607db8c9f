package ivm

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/delta"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Immediate says how a plan is followed within the writer's statement.
type Immediate struct {
	// Direct: each statement can follow by itself, in any order and with other writers at work. So it is for a view of one table, read once, whose
	// stored rows a unique index finds: what is added to a group waits for the group's row, and rows are recomputed by their key. Nothing needs
	// to lock it.
	Direct bool
	// Extremes are the stored columns with least and greatest values, and Regained recomputes those of the stored groups at Tables.Places.
	Extremes []string
	Regained Statement
	// KeyColumns are the columns of a Direct view's table that its identity consists of, where rows are stored as they are.
	KeyColumns []string
	// Recomputed are the rows of a Direct view that have the affected identities, for changes of all kinds.
	Recomputed Statement
	// FollowsSettings: what is stored may depend on settings of the session.
	FollowsSettings bool
	// Bags: rows are repeated as often as they count, of which the planner expects a thousand times what there are.
	Bags bool

	view *view
}

// Event is what a statement did to its table.
type Event string

// The events.
const (
	Insert Event = "insert"
	Update Event = "update"
	Delete Event = "delete"
)

// Events lists them.
var Events = []Event{Insert, Update, Delete}

// Effect is what a change can do to the rows of a view.
type Effect = delta.Effect

// Step is how a view follows a statement on one table.
type Step struct {
	Kind       StepKind
	ByEvent    map[Event]Statement
	Effects    map[Event]Effect // on the view's rows, or those that its groups are made of
	KeyColumns []string         // of the table, where PutRows finds rows by them: what the identity of stored rows is made of
}

// StepKind is how a step's statements are applied.
type StepKind string

// The kinds.
const (
	// AddDelta has delta, as a refresh has.
	AddDelta StepKind = "delta"
	// AddToGroups has delta say by how much each group changes; a unique index finds them.
	AddToGroups StepKind = "groups"
	// MoveRows has delta say which rows come and go, perhaps alike; a unique index finds them.
	MoveRows StepKind = "move"
	// PutRows has delta say which rows come of the table's rows that come. Rows of the view are found by the table's key, so those of the table's rows
	// that went, of whose keys none comes, are taken out as they are: a delete has no statement.
	PutRows StepKind = "put"
	// RecomputedRows has affected and recomputed: identities, and the rows that have them as they are.
	RecomputedRows StepKind = "rows"
)

// immediate is how the view is followed within statements, over its states; not for one that is recomputed.
func (v *view) immediate(over *view) Immediate {
	i := Immediate{Direct: v.direct() && len(over.states) == 0, FollowsSettings: v.followsSettings(), Bags: over.bags(), view: over}
	switch {
	case v.groups != nil:
		if i.Extremes = v.groups.Extremes(); len(i.Extremes) > 0 && len(over.states) == 0 {
			i.Regained = v.written(apply.Regain(v.storage, v.groups, v.recomputedExtremes()))
		}
	case i.Direct:
		i.KeyColumns, _ = v.identityIn(v.sources()[0])
		i.Recomputed = v.written(v.recomputedRows(Update))
	}
	return i
}

// Step is how a Direct view follows a statement on its table, with other writers at work.
func (i Immediate) Step() Step {
	if i.view.groups != nil {
		return i.view.step(AddToGroups, i.view.groupsDelta)
	}
	return i.view.step(RecomputedRows, i.view.recomputedRows)
}

// Alone is how a view follows a statement that alone changed one table while everybody else waits, which needs less than changes of all kinds do:
// each part of a statement that writes costs as much as to write a row. read: others read its delta.
func (i Immediate) Alone(table *catalog.Relation, read bool) Step {
	v := i.view.onlyChanging(table)
	unhashed := len(v.storage.Identity) > 0 && !v.storage.Hashed()
	switch {
	case !read && v.strategy == MergeGroups && unhashed:
		return v.step(AddToGroups, v.groupsDelta)
	case !read && v.strategy == MergeRows && !v.storage.Hashed():
		if keys := v.keyed(); keys != nil && !v.cancels() {
			s := v.step(PutRows, v.put)
			s.KeyColumns = keys
			return s
		}
		return v.step(MoveRows, v.moves)
	}
	all := v.statement()
	return v.step(AddDelta, func(Event) apply.Statement { return all })
}

// step has a statement for each event.
func (v *view) step(kind StepKind, statement func(Event) apply.Statement) Step {
	s := Step{Kind: kind, ByEvent: map[Event]Statement{}, Effects: map[Event]Effect{}}
	for _, e := range Events {
		s.ByEvent[e], s.Effects[e] = v.written(statement(e)), v.effect(e)
	}
	return s
}

// bags reports whether groups, partitions or first rows are computed as they were before a change.
func (v *view) bags() (found bool) {
	if v.strategy == MergeRows {
		algebra.Walk(v.Root, func(n algebra.Node) {
			switch n.(type) {
			case *algebra.Aggregate, *algebra.Window, *algebra.Top:
				found = true
			}
		})
	}
	return found
}

// effect is what a statement on the table that changes (any table of the view, if it is not only one) can do to the view's rows, and to those that its
// groups are made of.
func (v *view) effect(e Event) Effect {
	n := v.Root
	if v.groups != nil {
		n = v.groups.Node.Input
	}
	return delta.EffectOn(n, func(s *algebra.Source) delta.Effect {
		if v.only != nil && s.Table != v.only {
			return delta.Effect{}
		}
		return delta.Effect{Adds: e != Delete, Takes: e != Insert}
	})
}

// direct: groups over groups are not, since another writer's rows may be of the same group below, which neither of both sees as it will be.
func (v *view) direct() bool {
	reads := v.sources()
	if len(reads) != 1 || v.effect(Insert) == delta.Both || v.storage.Hashed() {
		return false
	}
	if kind := reads[0].Table.Kind; kind != catalog.Table && kind != catalog.Partitioned {
		return false
	}
	return v.strategy == MergeGroups || v.strategy == MergeRows
}

// groupsDelta says by how much each group changes in a statement.
func (v *view) groupsDelta(e Event) apply.Statement {
	effect := v.effect(e)
	readTwice := len(v.groups.Extremes()) > 0 && effect.Takes
	return apply.GroupsDelta(v.storage, v.groups, v.inputs(effect == delta.Both), readTwice)
}

// moves are the rows that come and go in a statement.
func (v *view) moves(e Event) apply.Statement {
	if v.cancels() {
		return v.statement()
	}
	return apply.MoveRows(v.storage, v.simplified(v.delta()), v.effect(e).Takes)
}

// cancels reports whether parts of a change of the one table that changes may cancel each other.
func (v *view) cancels() bool {
	reads := v.props.Of(v.Root).Reads(func(s *algebra.Source) bool { return s.Table == v.only })
	return reads > 1 || v.effect(Insert) == delta.Both
}

// recomputedRows are the affected identities, and the rows of a direct view that have them as they are.
func (v *view) recomputedRows(e Event) apply.Statement {
	source := v.sources()[0]
	var keys []algebra.Item
	p := &algebra.Project{Input: &algebra.Changes{Of: source}}
	for _, k := range v.storage.Identity {
		keys = append(keys, algebra.Item{ID: k.Column, Expr: algebra.Ref(k.Column)})
		p.Items = append(p.Items, algebra.Item{ID: v.columns.New(v.columns.Info(k.Column)), Expr: algebra.Ref(k.Column)})
	}
	if seen, ok := v.filtered(source, p.Input); ok {
		p.Input = seen
	}
	affected := &algebra.Distinct{Input: p}
	current := v.simplified(v.replaced(source, v.rules.restricted(source, keys, affected)))
	return apply.RecomputedRows(v.storage, affected, current, e == Insert)
}

// filtered are the changes of a direct view's rows that the view shows. What it shows of an identity neither before nor after a statement, that
// statement does not change: it waited for the transaction that changed the identity before, and sees its changes. That is so as long as nothing but the
// row decides on it, not the time nor a setting, and in read committed: a snapshot that is older than the wait does not see it.
func (v *view) filtered(source *algebra.Source, changes algebra.Node) (algebra.Node, bool) {
	conds := []algebra.Scalar{}
	for n := v.Root; n != algebra.Node(source); {
		switch at := n.(type) {
		case *algebra.Project:
			n = at.Input
		case *algebra.Filter:
			conds, n = append(conds, at.Conds...), at.Input
		default:
			return nil, false
		}
	}
	for _, c := range conds {
		if !v.plain(c) {
			return nil, false
		}
	}
	if len(conds) == 0 {
		return nil, false
	}
	old, err := sqltext.ParseExpr("current_setting('transaction_isolation') <> 'read committed'", nil)
	if err != nil {
		panic(err)
	}
	return &algebra.Filter{Input: changes, Conds: []algebra.Scalar{{Expr: sqltext.Or(apply.All(conds).Expr, old)}}}, true
}

// plainTypes are those whose comparisons depend on nothing but their values.
var plainTypes = []string{"smallint", "integer", "bigint", "numeric", "text", "character varying", "boolean", "uuid"}

// plain reports whether a condition compares columns of the table, of plain types, with each other and with constants.
func (v *view) plain(cond algebra.Scalar) bool {
	computed := map[int]bool{}
	algebra.Walk(v.Root, func(n algebra.Node) {
		if p, ok := n.(*algebra.Project); ok {
			for _, item := range p.Items {
				computed[int(item.ID)] = true
			}
		}
	})
	return v.comparesPlain(cond) && !slices.ContainsFunc(cond.Expr.Columns(), func(id int) bool { return computed[id] })
}

// comparesPlain reports whether a condition compares columns of plain types with each other and with constants.
func (v *view) comparesPlain(cond algebra.Scalar) bool {
	for _, use := range cond.Expr.Uses() {
		if use.Kind != sqltext.UsesOperator || use.Schema != "" && use.Schema != "pg_catalog" || !slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, use.Name) {
			return false
		}
	}
	return !slices.ContainsFunc(cond.Columns(), func(id algebra.ColID) bool { return !v.isOf(id, plainTypes) })
}

// isOf reports whether a column has one of some types, of any length.
func (v *view) isOf(id algebra.ColID, types []string) bool {
	typ, _, _ := strings.Cut(v.columns.Info(id).Type, "(")
	return slices.Contains(types, typ)
}
