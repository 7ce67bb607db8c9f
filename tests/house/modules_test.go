package house

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/Masterminds/semver/v3"
)

// TestModulesAgree fails where a module of tests requires an older version of a module than the root does: Go refuses to build it until
// `go mod tidy` has run there. Go itself says so only once it has downloaded all modules, which are large.
func TestModulesAgree(t *testing.T) {
	root := requirements(t, "../../go.mod")
	for _, file := range []string{"../tools/migrations/go.mod", "../tools/ops/go.mod"} {
		for path, version := range requirements(t, file) {
			if ours, ok := root[path]; ok && version.LessThan(ours) {
				t.Errorf("%s requires %s %s, and go.mod %s: run go mod tidy beside it", file, path, version, ours)
			}
		}
	}
}

// requirements returns the versions that a go.mod requires, by module.
func requirements(t *testing.T, file string) map[string]*semver.Version {
	t.Helper()
	out, err := exec.Command("go", "mod", "edit", "-json", file).Output()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var module struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	versions := map[string]*semver.Version{}
	for _, r := range module.Require {
		versions[r.Path] = semver.MustParse(r.Version)
	}
	return versions
}
