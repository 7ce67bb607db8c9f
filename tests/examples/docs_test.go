package examples

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// block is a fenced block of a document.
type block struct {
	language, text string
	line           int
}

func blocks(t *testing.T, document string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", document))
	if err != nil {
		t.Fatal(err)
	}
	var found []block
	inside := false
	for n, line := range strings.Split(string(text), "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			found = append(found, block{language: language, line: n + 2})
		case !fence && inside:
			found[len(found)-1].text += line + "\n"
		}
		inside = inside != fence
	}
	return found
}

// TestDocuments installs the whole specs of each document and runs its SQL, from top to bottom, over one connection. An arrow behind a statement
// gives its rows: values between bars, rows between slashes; or its error. The schema of a spec is the SQL right before it. Go and Python blocks are looked
// up in this directory.
func TestDocuments(t *testing.T) {
	sources := programs(t)
	for _, name := range []string{"inbox.md", "stream-tables.md", "altering-tables.md", "outbox.md", "stream-table-outbox.md", "patterns.md", "coming-from.md"} {
		t.Run(name, func(t *testing.T) { runDocument(t, name, sources) })
	}
}

func runDocument(t *testing.T, name, sources string) {
	t.Helper()
	db := pgtest.DB(t)
	db.SuperExec(t, pgtest.MakeRoles("shop_app", "shop_worker", "shop_watch"))
	db.SuperExec(t, "grant shop_app, shop_worker, shop_watch to "+pgtest.Owner) // examples set the role
	conn := db.Connect(t)
	schema := ""
	for _, b := range blocks(t, name) {
		switch b.language {
		case "yaml":
			if !strings.HasPrefix(b.text, "version:") {
				continue // part of a spec
			}
			extension := generate(t, b.text, schema)
			for _, script := range []string{extension.Install(generator.Plain), extension.Fill()} {
				if _, err := conn.Exec(t.Context(), script); err != nil {
					t.Fatalf("line %d: %s", b.line, pgtest.ErrorText(err))
				}
			}
		case "sql":
			schema = b.text
			runBlock(t, conn, b)
		case "go", "python":
			if !strings.Contains(sources, b.text) {
				t.Errorf("line %d: no file of this directory has\n%s", b.line, b.text)
			}
		}
	}
}

// generate makes the extension of a spec, whose DDL is in schema.sql.
func generate(t *testing.T, spec, schema string) *generator.Extension {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"spec.yaml": spec, "schema.sql": schema} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return installed.Load(t, filepath.Join(dir, "spec.yaml"))
}

func programs(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("*.[gp][oy]")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

var statementEnd = regexp.MustCompile(`;\s*(?:-- (→)\s*(.*))?$`)

// runBlock runs the statements of a block; each ends with a line.
func runBlock(t *testing.T, conn *pgx.Conn, b block) {
	t.Helper()
	statement := ""
	for n, line := range strings.Split(b.text, "\n") {
		statement += line + "\n"
		end := statementEnd.FindStringSubmatch(line)
		if end == nil {
			continue
		}
		got := result(t, conn, statement, b.line+n)
		if want := strings.TrimSpace(end[2]); (end[1] != "" || strings.HasPrefix(got, "ERROR: ")) && got != want {
			t.Errorf("line %d: returns %q, not %q", b.line+n, got, want)
		}
		statement = ""
	}
	if strings.TrimSpace(statement) != "" {
		t.Errorf("line %d: a statement without an end: %s", b.line, statement)
	}
}

// result runs a statement as psql does, and writes its rows on one line.
func result(t *testing.T, conn *pgx.Conn, statement string, line int) string {
	t.Helper()
	results, err := conn.PgConn().Exec(t.Context(), statement).ReadAll()
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return "ERROR: " + failed.Message
	}
	if err != nil {
		t.Fatalf("line %d: %s", line, pgtest.ErrorText(err))
	}
	var rows []string
	for _, values := range results[0].Rows {
		texts := make([]string, len(values))
		for i, value := range values {
			texts[i] = string(value)
		}
		rows = append(rows, strings.Join(texts, " | "))
	}
	return strings.Join(rows, " / ")
}
