package house

import (
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/spec"
)

// What out/ holds is what specs/ generate: the same check as sluice generate --check.
func TestOutIsCurrent(t *testing.T) {
	specs, problems := spec.Load("../../specs")
	if !problems.Empty() {
		t.Fatal(problems)
	}
	for _, s := range specs {
		released, err := artifact.Releases("../../out", s.Extension.Name)
		if err != nil {
			t.Fatal(err)
		}
		extension, problems := generator.Generate(s, released...)
		if !problems.Empty() {
			t.Fatal(problems)
		}
		files, err := extension.Files(released)
		if err != nil {
			t.Fatal(err)
		}
		diff, err := files.Diff("../../out")
		if err != nil {
			t.Fatal(err)
		}
		if diff != "" {
			t.Errorf("out is stale; run make generate\n%s", diff)
		}
	}
}
