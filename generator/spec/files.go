package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/diag"
)

// readFiles reads the DDL and query files that the spec names.
func (s *Spec) readFiles(errs *diag.List) {
	for i, file := range s.Schema {
		same := slices.IndexFunc(s.Schema[:i], func(t Text) bool { return beside(t.At, t.Value) == beside(file.At, file.Value) })
		if same >= 0 {
			errs.Add(listedTwice(file.At, s.Schema[same].At, file.Value))
		} else if ddl, ok := readBeside(file.At, file.Value, errs); ok {
			s.DDL = append(s.DDL, ddl)
		}
	}
	s.readQueries(errs)
}

// DDLFiles returns the paths of the files that Schema names, whether or not they exist.
func (s *Spec) DDLFiles() []string {
	var paths []string
	for _, file := range s.Schema {
		paths = append(paths, beside(file.At, file.Value))
	}
	return paths
}

func (s *Spec) readQueries(errs *diag.List) {
	for i := range s.StreamTables {
		t := &s.StreamTables[i]
		if t.QueryFile != "" {
			t.Query.At = t.Field("query_file")
			t.Query.Block, _ = readBeside(t.Query.At, t.QueryFile, errs)
		}
	}
}

// beside resolves a path that stands at a place in a file: relative paths are relative to that file.
func beside(at diag.Pos, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(at.File), path)
}

// byteOrderMark is what some editors put before a text.
const byteOrderMark = "\ufeff"

func readBeside(at diag.Pos, path string, errs *diag.List) (diag.Block, bool) {
	resolved := beside(at, path)
	if path == "" {
		return diag.Block{}, false
	}
	content, err := os.ReadFile(resolved)
	if err != nil {
		errs.Add(unreadable(at, resolved, err))
		return diag.Block{}, false
	}
	text := strings.TrimPrefix(string(content), byteOrderMark)
	errs.AddSource(resolved, text)
	return diag.WholeFile(resolved, text), true
}
