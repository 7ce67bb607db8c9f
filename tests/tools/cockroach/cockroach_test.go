// Package cockroach has CockroachDB's own parser read what is generated for it. The parser is a large module, so this is a module of its own.
package cockroach

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	plpgsql "github.com/cockroachdb/cockroachdb-parser/pkg/sql/plpgsql/parser"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/plpgsql/parser/lexbase"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// sluice is the program.
var sluice string

// TestMain builds it.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sluice")
	if err != nil {
		log.Fatal(err)
	}
	sluice = filepath.Join(dir, "sluice")
	command := exec.Command("go", "build", "-o", sluice, "./cmd/sluice")
	command.Dir = "../../.."
	if output, err := command.CombinedOutput(); err != nil {
		log.Fatalf("%v: %s", err, output)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// TestParses has all statements and all bodies of functions read, printed, and read again: CockroachDB stores a body as it prints it, and reads that
// at each call.
func TestParses(t *testing.T) {
	bodies := 0
	for name, spec := range specs(t) {
		files, err := generate(t, spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			bodies += reads(t, name, file)
		}
	}
	if bodies < 20 {
		t.Errorf("only %d bodies of functions were read", bodies)
	}
}

// reads has all statements of a script read, and returns how many bodies of functions it has.
func reads(t *testing.T, name, file string) (bodies int) {
	t.Helper()
	sql, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	statements, err := parser.Parse(string(sql))
	if err != nil {
		t.Errorf("%s, %s: %v", name, filepath.Base(file), err)
	}
	for _, s := range statements {
		bodies += parses(t, name, s.AST)
	}
	return bodies
}

// parses reads a statement as it is printed, and the bodies of functions in it. Returns how many these are.
func parses(t *testing.T, name string, s tree.Statement) (bodies int) {
	t.Helper()
	if _, err := parser.ParseOne(s.String()); err != nil {
		t.Errorf("%s: as it is printed: %v\n%s", name, err, s)
	}
	function, is := s.(*tree.CreateRoutine)
	if !is {
		return 0
	}
	for _, option := range function.Options {
		body, is := option.(tree.RoutineBodyStr)
		if !is {
			continue
		}
		bodies++
		block, err := plpgsql.Parse(string(body))
		if err != nil {
			t.Errorf("%s: body of %s: %v", name, function.Name.String(), err)
			continue
		}
		switch again, err := plpgsql.Parse(block.String()); {
		case err != nil:
			t.Errorf("%s: body of %s, as it is printed: %v\n%s", name, function.Name.String(), err, block)
		case again.String() != block.String():
			t.Errorf("%s: body of %s is another when it is read again:\n%s\n%s", name, function.Name.String(), block, again)
		}
	}
	return bodies
}

const targets = "../../targets/cockroach/testdata"

// specs are those of the tests of the target, and that of its page.
func specs(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"shop", "odd"} {
		text, err := os.ReadFile(filepath.Join(targets, name, "spec.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	page, err := os.ReadFile("../../../docs/cockroachdb.md")
	if err != nil {
		t.Fatal(err)
	}
	all["page"] = regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(page))[1]
	return all
}

// generate returns the scripts that are generated for a spec.
func generate(t *testing.T, spec string) ([]string, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "spec.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command(sluice, "generate", "--file", file, "--out", filepath.Join(dir, "out")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	files, err := filepath.Glob(filepath.Join(dir, "out", "*", "migrations", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	return files, nil
}

// TestNames has each keyword of plpgsql as the name of a schema, an inbox and an outbox. CockroachDB stores bodies without quotes: they are read again, or
// generate refuses the name.
func TestNames(t *testing.T) {
	var refused []string
	for _, word := range lexbase.KeywordNames {
		for _, spec := range []string{
			"extension: {name: x, version: 1.0.0, target: cockroachdb, schema: '" + word + "'}\ninboxes: [{name: a}]\noutboxes: [{name: b}]\n",
			"extension: {name: x, version: 1.0.0, target: cockroachdb, schema: x}\ninboxes: [{name: '" + word + "'}]\noutboxes: [{name: '" + word + "'}]\n",
		} {
			files, err := generate(t, "version: 1\n"+spec)
			if err != nil {
				refused = append(refused, word)
			}
			for _, file := range files {
				reads(t, word, file)
			}
		}
	}
	refused = slices.DeleteFunc(refused, func(word string) bool { return strings.HasPrefix(word, "pg_") }) // schemas that are PostgreSQL's
	if want := []string{"error", "error"}; !slices.Equal(refused, want) {
		t.Errorf("refused are %q, not %q", refused, want)
	}
}
