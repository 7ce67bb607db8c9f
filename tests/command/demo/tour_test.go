package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestTour does what the README's "Use it" says, word for word and in its order, as somebody who has cloned the repository beside a project. Only the
// database is another one.
func TestTour(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	use := section(t, string(readme), "## Use it\n", "\n## ")
	db := pgtest.DB(t)
	db.Exec(t, "create table customers (id bigint primary key, region text); create table orders (id bigint primary key, customer_id bigint references customers, amount numeric)")
	db.Exec(t, "insert into customers values (1, 'north'), (2, 'south'); insert into orders values (1, 1, 10), (2, 2, 20), (3, 1, 5)")

	beside := t.TempDir()
	clone, project := filepath.Join(beside, "sluice"), filepath.Join(beside, "my-project")
	root, err := filepath.Abs("../../..")
	if err == nil {
		err = os.Symlink(root, clone)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(project, "specs", "app"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(project, "specs", "app", "spec.yaml"), []byte(section(t, use, "```yaml\n", "```\n")), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	steps := strings.Replace(section(t, use, "```sh\n", "```\n"), "postgres://localhost/mydb", "'"+db.DSN()+"'", 1)

	// Make sees the repository where it is, not by the link: Go would compile all of it again. The scheduler stays, as a job of the shell,
	// whose group ends with the test.
	shell := exec.Command("bash", "-c", "set -e\nmake() { env -u PWD make \"$@\"; }\n"+steps+"sluice apply\nsluice status\nsed -i 's/name: order_events/&\\n    retry: none/' specs/app/spec.yaml\nsluice apply --allow-data-loss\n")
	shell.Dir = clone
	shell.Env = append(os.Environ(), "PWD="+clone, "GOFLAGS=-ldflags=-w")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := os.Create(filepath.Join(beside, "said"))
	if err != nil {
		t.Fatal(err)
	}
	shell.Stdout, shell.Stderr = said, said // a file: what stays in the background does not keep a pipe open
	err = shell.Run()
	t.Cleanup(func() { syscall.Kill(-shell.Process.Pid, syscall.SIGTERM) })
	text, _ := os.ReadFile(said.Name())
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{
		"extension app 0.1.0 installed\n", "extension app 0.1.0 is installed already, nothing to do\n", "extension app 0.1.0 changed under its number, which was not released\n",
		"order_events", "public.revenue", `level=INFO msg="ticks in schema pgtrickle every 1s" extension=app`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("nothing says %q in\n%s", want, text)
		}
	}
	var made []string
	entries, err := os.ReadDir(filepath.Join(project, "out", "app"))
	for _, entry := range entries {
		made = append(made, entry.Name())
	}
	if want := "docs extension.sql groups inboxes jobs outboxes rights.sql runtime sources stream_tables"; strings.Join(made, " ") != want {
		t.Errorf("out/app has %v, not %s; %v", made, want, err)
	}

	var answers []string
	conn := db.Connect(t)
	last := strings.NewReplacer() // what a statement takes from the row before it
	for _, sql := range pgtest.Split(section(t, use, "```sql\n", "```\n")) {
		rows, err := conn.Query(t.Context(), last.Replace(sql))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for i, column := range rows.FieldDescriptions() {
				found = append(found, ":"+column.Name, fmt.Sprint(values[i]))
			}
			last = strings.NewReplacer(found...)
			answers = append(answers, fmt.Sprint(values))
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("%s in: %s", pgtest.ErrorText(err), sql)
		}
	}
	got := strings.Join(answers, "\n")
	if want := regexp.MustCompile(`^\[true\]\n\[evt-1 map\[order:1\]\]\n\[1\]\n\[true\]\n\[1 map\[order:1\] \d+\]\n\[1\]\n`); !want.MatchString(got) {
		t.Errorf("answers:\n%s\nwant:\n%s", got, want)
	}

	db.Exec(t, "insert into orders values (4, 2, 7)")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for fresh := false; !fresh && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		fresh = fmt.Sprint(pgtest.Rows(t, db, "select region, revenue::int, orders from public.revenue order by 1")) == "[[north 15 2] [south 27 2]]"
	}
	if ctx.Err() != nil {
		t.Errorf("the scheduler refreshes nothing: %v", pgtest.Rows(t, db, "select * from public.revenue"))
	}
}

// section is what stands between two marks.
func section(t *testing.T, text, begin, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, begin)
	body, _, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("no section %q", begin)
	}
	return body
}
