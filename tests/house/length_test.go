package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Files and functions that fit on a few screens are read; longer ones are searched.
const (
	mostLines         = 300 // of a file
	mostFunctionLines = 80
)

func TestLengths(t *testing.T) {
	for _, room := range []string{"cmd", "generator", "ivm", "specs", "templates"} {
		err := filepath.WalkDir("../../"+room, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				checkLengths(t, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func checkLengths(t *testing.T, path string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
	if lines := set.Position(file.FileEnd).Line - 1; lines > mostLines {
		t.Errorf("%s has %d lines, of at most %d", name, lines, mostLines)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			if lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; lines > mostFunctionLines {
				t.Errorf("%s of %s has %d lines, of at most %d", f.Name.Name, name, lines, mostFunctionLines)
			}
		}
	}
}
