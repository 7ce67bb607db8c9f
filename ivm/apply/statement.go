package apply

import "github.com/pgsluice/sluice/ivm/algebra"

// Statement finds how stored rows change: relations that follow from each other, of which the last is the result. A statement without steps is
// one by which nothing can change.
type Statement struct {
	Storage Storage
	Groups  *Groups // where accumulators of groups are stored
	Steps   []Step
	Inline  bool // each relation is read once, so that none needs to be materialized
}

// Empty reports whether nothing can change.
func (s Statement) Empty() bool { return len(s.Steps) == 0 }

// Step is a relation of a statement. The kinds are those of this file.
type Step interface{ step() }

// Rows are the signed rows of a node.
type Rows struct {
	Node    algebra.Node
	Columns []string // names of its columns
	Keep    bool     // materialized
	Name    string   // of the relation; empty: any
}

// Once has each row of a node once. Nodes of later steps that read the node read this relation.
type Once struct {
	Node    algebra.Node
	Columns []string
	Name    string // empty: any
}

// AddUp is delta: the signed rows of the step before, added up.
type AddUp struct{}

// LessStored are the rows of the step before, less the stored rows of the keys in Affected.
type LessStored struct {
	Affected *algebra.Distinct
	Keys     []Key
	Columns  []string
}

// GroupChanges is delta: the rows of the step before, which are Groups.Inputs, added up to changes of accumulators.
type GroupChanges struct{ Keep bool }

// Merged has each changed group as it becomes, with the place where it is stored; and where extremes are stored, whether one was lost.
type Merged struct{ Name string }

// Lost are the keys of the merged groups that lost an extreme.
type Lost struct{}

// LostAt are the stored groups at the places in an array variable of the statement.
type LostAt struct{}

// RecomputedExtremes are the extremes of the lost groups, computed of the rows that are theirs now.
type RecomputedExtremes struct {
	Lost *algebra.Values // stands for Lost or LostAt in Rows
	Rows algebra.Node    // of the groups
}

// Regained are the merged groups, where extremes were lost with recomputed ones.
type Regained struct{}

// FoundLessStored are the changed groups as they become, less what is stored of them.
type FoundLessStored struct{}

func (Rows) step()               {}
func (Once) step()               {}
func (AddUp) step()              {}
func (LessStored) step()         {}
func (GroupChanges) step()       {}
func (Merged) step()             {}
func (Lost) step()               {}
func (LostAt) step()             {}
func (RecomputedExtremes) step() {}
func (Regained) step()           {}
func (FoundLessStored) step()    {}

// Repeats reports whether changes hold rows that functions repeat, of which the planner expects far more than there are: what functions of the query return,
// and what groups are made of that were repeated as often as they counted.
func (s Statement) Repeats() bool {
	found := false
	for _, step := range s.Steps {
		rows, ok := step.(Rows)
		if !ok {
			continue
		}
		algebra.Walk(rows.Node, func(n algebra.Node) {
			switch n.(type) {
			case *algebra.Each:
				found = true
			case *algebra.Bag:
				found = found || s.Groups != nil
			}
		})
	}
	return found
}

// Trees are what the steps read.
func (s Statement) Trees() []algebra.Node {
	var trees []algebra.Node
	for _, step := range s.Steps {
		switch step := step.(type) {
		case Rows:
			trees = append(trees, step.Node)
		case Once:
			trees = append(trees, step.Node)
		case RecomputedExtremes:
			trees = append(trees, step.Rows)
		}
	}
	return trees
}
