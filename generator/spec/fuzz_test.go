package spec

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pgsluice/sluice/ivm/diag"
)

// FuzzLoad asserts that no file makes Load panic, and that every problem points into the file or at the file as a whole.
func FuzzLoad(f *testing.F) {
	everything, err := os.ReadFile("testdata/everything.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(everything)
	for _, seed := range []string{"", "---\n---\n", "a: &a [*a]", "version: 1\r\ninboxes:\r\n- *x\r\n", "\ufeffversion: 1", "? [a]\n: b", "inboxes: [{name: !!int x}]"} {
		f.Add([]byte(seed))
	}
	file := filepath.Join(f.TempDir(), "spec.yaml")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(file, content, 0o666); err != nil {
			t.Fatal(err)
		}
		specs, errs := Load(file)
		_ = errs.String()
		for _, e := range errs.Errors() {
			if e.File != file || e.Line < 1 || e.Col < 1 {
				t.Errorf("%v stands nowhere", e)
			}
		}
		if errs.Empty() && specs[0].Extension.Field("name") == (diag.Pos{}) {
			t.Error("a valid spec without places")
		}
	})
}
