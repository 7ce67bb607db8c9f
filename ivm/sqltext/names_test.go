package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

// Names are whole, folded as PostgreSQL folds them; keywords, literals and comments are none.
func TestNames(t *testing.T) {
	long := strings.Repeat("ü", 40)
	got := fmt.Sprint(Names(`select Total, 'text' as "A""b", ` + long + ` from t -- comment`))
	want := fmt.Sprint([]NameToken{{7, "total"}, {24, `A"b`}, {32, long}, {118, "t"}})
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if Names("select 'open") != nil {
		t.Error("found names in what cannot be scanned")
	}
}
