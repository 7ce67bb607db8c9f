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

// readText reads a file of the user's without a byte order mark. Lines end in a line feed alone, whatever a checkout has made of them, so that all
// checkouts generate the same.
func readText(path string) (string, error) {
	content, err := os.ReadFile(path)
	return strings.TrimPrefix(strings.ReplaceAll(string(content), "\r\n", "\n"), byteOrderMark), err
}

// conflictAt finds the lines that git writes around what it could not merge.
func conflictAt(file, text string) (diag.Error, bool) {
	if !strings.Contains(text, "<<<<<<< ") {
		return diag.Error{}, false
	}
	for n, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "<<<<<<< ") {
			return mergeConflict(diag.Pos{File: file, Line: n + 1, Col: 1}), true
		}
	}
	return diag.Error{}, false
}

func readBeside(at diag.Pos, path string, errs *diag.List) (diag.Block, bool) {
	resolved := beside(at, path)
	if path == "" {
		return diag.Block{}, false
	}
	text, err := readText(resolved)
	if err != nil {
		errs.Add(unreadable(at, resolved, err))
		return diag.Block{}, false
	}
	errs.AddSource(resolved, text)
	if conflict, is := conflictAt(resolved, text); is {
		errs.Add(conflict)
		return diag.Block{}, false
	}
	if e, is := badCharacter(resolved, text, isSQLControl); is {
		errs.Add(e)
		return diag.Block{}, false
	}
	return diag.WholeFile(resolved, text), true
}
