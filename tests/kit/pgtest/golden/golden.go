// Package golden is the one flag by which expected output is rewritten:
// go test ./... -update. Review what changes as a diff.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected output of data-driven tests")

// Update reports whether expected output is to be rewritten.
func Update() bool { return *update }

// CompareText fails the test at the first line in which got differs from want.
func CompareText(t testing.TB, name, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	n := 0
	for n < len(g) && n < len(w) && g[n] == w[n] {
		n++
	}
	t.Errorf("%s differs from line %d of the expected output\nwant:\n%s\ngot:\n%s\n(-update rewrites it)",
		name, n+1, excerpt(w, n), excerpt(g, n))
}

// CompareFiles compares generated files, by their names, with those of the same base names in a directory.
func CompareFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		file := filepath.Join(dir, filepath.Base(path))
		if Update() {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(file)
		CompareText(t, file, text, string(want))
	}
}

// excerpt is the lines about line n, which is marked.
func excerpt(lines []string, n int) string {
	var b strings.Builder
	for i := max(0, n-3); i < min(len(lines), n+8); i++ {
		mark := "  "
		if i == n {
			mark = "> "
		}
		b.WriteString(mark + lines[i] + "\n")
	}
	return b.String()
}
