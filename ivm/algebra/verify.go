package algebra

import "fmt"

// Verify reports the first node that reads a column which its inputs do not
// make, or makes one twice. It runs after each pass in tests.
func Verify(n Node) (err error) {
	Walk(n, func(n Node) {
		if err == nil {
			err = verifyNode(n)
		}
	})
	return err
}

func verifyNode(n Node) error {
	if id, twice := repeated(n.Columns()); twice {
		return fmt.Errorf("%T makes column %d twice", n, id)
	}
	switch n := n.(type) {
	case *Union:
		return verifyBranches("a union", n.Cols, n.From)
	case *Recursion:
		return verifyBranches("a recursion", n.Cols, []Branch{n.Seed, n.Step})
	}
	below := set{}
	for _, in := range n.Inputs() {
		below.add(in.Columns())
	}
	if each, ok := n.(*Each); ok {
		below.add(each.Cols)
	}
	for _, s := range n.reads() {
		if id, missing := below.lacks(s.Columns()); missing {
			return fmt.Errorf("%T reads column %d, which its input does not make: %s", n, id, s.Expr.SQL())
		}
	}
	return nil
}

func verifyBranches(of string, cols []ColID, branches []Branch) error {
	for i, b := range branches {
		if len(b.Cols) != len(cols) {
			return fmt.Errorf("branch %d of %s of %d columns has %d", i+1, of, len(cols), len(b.Cols))
		}
		below := set{}
		below.add(b.Input.Columns())
		if id, missing := below.lacks(b.Cols); missing {
			return fmt.Errorf("branch %d of %s reads column %d, which its input does not make", i+1, of, id)
		}
	}
	return nil
}

type set map[ColID]bool

func (s set) add(ids []ColID) {
	for _, id := range ids {
		s[id] = true
	}
}

func (s set) lacks(ids []ColID) (ColID, bool) {
	for _, id := range ids {
		if !s[id] {
			return id, true
		}
	}
	return 0, false
}

func repeated(ids []ColID) (ColID, bool) {
	seen := set{}
	for _, id := range ids {
		if seen[id] {
			return id, true
		}
		seen[id] = true
	}
	return 0, false
}
