package generator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
)

// A table holds 1,600 columns; what is stored beside a query's needs some of them.
func TestTooManyColumns(t *testing.T) {
	for columns, want := range map[int]string{1597: "", 1598: "[too-wide]"} {
		list := make([]string, columns)
		for i := range list {
			list[i] = fmt.Sprintf("c%d", i)
		}
		dir := t.TempDir()
		write(t, dir, "schema.sql", "create table wide ("+strings.Join(list, " int, ")+" int);\n")
		write(t, dir, "spec.yaml", "version: 1\nextension: {name: x, version: 1.0.0}\nschema: [schema.sql]\nstream_tables:\n  - name: v\n    query: |\n      select * from wide\n")
		specs, errs := spec.Load(filepath.Join(dir, "spec.yaml"))
		if !errs.Empty() {
			t.Fatal(errs)
		}
		_, errs = generator.Generate(specs[0])
		if said := errs.String(); want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%d columns: %s", columns, said)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
