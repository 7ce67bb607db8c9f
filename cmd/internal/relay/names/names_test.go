package names

import (
	"os"
	"strings"
	"testing"
)

// TestTake holds that a name is taken once in a scope, is free again when it was released, and can be had without a directory for temporary files.
func TestTake(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	take := func(scope string) Name {
		t.Helper()
		name, err := Take(scope, "", "/p")
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	first, second, elsewhere := take("a"), take("a"), take("b")
	if second.Text != first.Text+"-2" || elsewhere.Text != first.Text || !strings.HasSuffix(first.Text, "/p") {
		t.Errorf("names are %s, %s, and elsewhere %s", first.Text, second.Text, elsewhere.Text)
	}
	first.Release()
	if again := take("a"); again.Text != first.Text {
		t.Errorf("%s is not free again, but %s is", first.Text, again.Text)
	}
	t.Setenv("TMPDIR", os.TempDir()+"/missing")
	if without := take("a"); !strings.HasPrefix(without.Text, first.Text+"-") {
		t.Errorf("without a directory the name is %s", without.Text)
	}
}
