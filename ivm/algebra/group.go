package algebra

// Aggregate groups rows by its keys. Without keys and with Global set it makes
// one row, also of nothing.
type Aggregate struct {
	Input  Node
	Keys   []Item
	Aggs   []Agg
	Global bool
}

// Agg is one aggregate function of a group.
type Agg struct {
	ID   ColID
	Call Scalar // the whole call, as PostgreSQL evaluates it
	// Func is the function in pg_catalog that the call names, and Args what it
	// is given, where the call is no more than that, DISTINCT and FILTER; Func
	// is empty for a call that only a recount of the group can follow.
	Func     string
	Args     []Scalar
	Distinct bool
	Filter   []Scalar
	Ordered  bool // its order is longer than the query says
}

// Distinct keeps one of each row.
type Distinct struct{ Input Node }

// RootGroups is the grouping on which nothing but filters and projections stands; nil if there is none.
func RootGroups(n Node) *Aggregate {
	for {
		switch at := n.(type) {
		case *Project:
			n = at.Input
		case *Filter:
			n = at.Input
		case *Aggregate:
			if len(at.Keys) > 0 || at.Global {
				return at
			}
			return nil
		default:
			return nil
		}
	}
}

func (n *Aggregate) Columns() []ColID {
	ids := itemIDs(n.Keys)
	for _, a := range n.Aggs {
		ids = append(ids, a.ID)
	}
	return ids
}

func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// With groups another input alike.
func (n *Aggregate) With(in []Node) Node {
	return &Aggregate{in[0], n.Keys, n.Aggs, n.Global}
}

func (n *Aggregate) reads() []Scalar {
	all := itemExprs(n.Keys)
	for _, a := range n.Aggs {
		all = append(append(append(all, a.Call), a.Args...), a.Filter...)
	}
	return all
}

func (n *Distinct) Columns() []ColID  { return n.Input.Columns() }
func (n *Distinct) Inputs() []Node    { return []Node{n.Input} }
func (*Distinct) With(in []Node) Node { return &Distinct{in[0]} }
func (n *Distinct) reads() []Scalar   { return nil }

// Bag turns signed rows whose multiplicities add up to none below zero into
// rows that count once each.
type Bag struct{ Input Node }

// Kept is a relation that is computed once, wherever it is read.
type Kept struct{ Input Node }

func (n *Kept) Columns() []ColID  { return n.Input.Columns() }
func (n *Kept) Inputs() []Node    { return []Node{n.Input} }
func (*Kept) With(in []Node) Node { return &Kept{in[0]} }
func (n *Kept) reads() []Scalar   { return nil }

func (n *Bag) Columns() []ColID  { return n.Input.Columns() }
func (n *Bag) Inputs() []Node    { return []Node{n.Input} }
func (*Bag) With(in []Node) Node { return &Bag{in[0]} }
func (n *Bag) reads() []Scalar   { return nil }

// Keep is a relation that is read more than once. What is distinct or constant is kept anyway; changes of a table are kept as they are, and what is computed from them row by row is not worth it.
func Keep(n Node) Node {
	for at := n; ; {
		switch below := at.(type) {
		case *Changes, *Kept, *Distinct, *Values:
			return n
		case *Filter:
			at = below.Input
		case *Project:
			at = below.Input
		default:
			return &Kept{Input: n}
		}
	}
}
