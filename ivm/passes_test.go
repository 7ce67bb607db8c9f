package ivm

import (
	"strings"
	"testing"

	"github.com/pgsluice/sluice/ivm/algebra"
)

// A pass that leaves a column without an origin is named.
func TestVerifyPasses(t *testing.T) {
	defer func() {
		if said, _ := recover().(string); !strings.HasPrefix(said, "after lose columns: ") {
			t.Errorf("it says %q", said)
		}
	}()
	VerifyPasses()
	columns := &algebra.Columns{}
	id := columns.New(algebra.Info{Name: "a"})
	lose := pass{"lose columns", func(n algebra.Node) algebra.Node {
		return &algebra.Project{Input: &algebra.Values{}, Items: []algebra.Item{{ID: columns.New(algebra.Info{Name: "b"}), Expr: algebra.Ref(id)}}}
	}}
	through([]pass{lose}, &algebra.Values{Cols: []algebra.ColID{id}})
}
