package house

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ordered lists the rooms whose package comments say in which order their files stand.
var ordered = []string{"generator/artifact", "generator/objects", "generator/plan", "ivm", "ivm/algebra/props", "ivm/apply", "ivm/rewrite"}

// built is a package with the file that its compiler wrote for those that import it.
type built struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// TestFilesCallDownwards holds that a file calls functions of its own room only if they stand in it or in a file below it.
func TestFilesCallDownwards(t *testing.T) {
	all := builtPackages(t)
	files := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
	for _, room := range ordered {
		p := all[module+room]
		set, parsed := token.NewFileSet(), []*ast.File(nil)
		order := []string(nil)
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
			order = append(order, orderOf(file)...)
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		own, err := (&types.Config{Importer: files}).Check(p.ImportPath, set, parsed, info)
		if err != nil {
			t.Fatal(err)
		}
		place := func(at token.Pos) (string, int) {
			name := strings.TrimSuffix(filepath.Base(set.Position(at).Filename), ".go")
			return name, slices.Index(order, name)
		}
		for _, name := range p.GoFiles {
			if !slices.Contains(order, strings.TrimSuffix(name, ".go")) {
				t.Errorf("%s: the package comment does not say where %s stands", room, name)
			}
		}
		calls := map[string]bool{}
		for identifier, object := range info.Uses {
			if _, calls := object.(*types.Func); !calls || object.Pkg() != own {
				continue
			}
			from, at := place(identifier.Pos())
			if to, below := place(object.Pos()); below < at {
				calls[fmt.Sprintf("%s.go uses %s of %s.go, which stands above it", from, object.Name(), to)] = true
			}
		}
		for _, call := range slices.Sorted(maps.Keys(calls)) {
			t.Errorf("%s: %s", room, call)
		}
	}
}

var downwards = regexp.MustCompile(`Files call downwards: ([a-z0-9_, ]+)\.`)

// orderOf is the order of files that the package comment in a file gives, top to bottom.
func orderOf(file *ast.File) []string {
	found := downwards.FindStringSubmatch(strings.Join(strings.Fields(file.Doc.Text()), " "))
	if found == nil {
		return nil
	}
	return strings.Split(found[1], ", ")
}

// builtPackages are the ordered rooms and all that they import.
func builtPackages(t *testing.T) map[string]built {
	t.Helper()
	arguments := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	for _, room := range ordered {
		arguments = append(arguments, module+room)
	}
	out, err := exec.Command("go", arguments...).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]built{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p built
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	return all
}
