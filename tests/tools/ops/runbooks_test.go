package ops

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// blocks are the SQL of a page.
var blocks = regexp.MustCompile("(?s)```sql\n(.*?)```")

// TestRunbooks holds that each alert has a page and each page an alert.
func TestRunbooks(t *testing.T) {
	eachSpec(t, func(t *testing.T, files map[string]string) {
		pages := map[string]bool{}
		for path := range files {
			if strings.HasPrefix(path, "runbooks/") {
				pages[path] = true
			}
		}
		for _, rule := range rules(t, files) {
			page := rule.Annotations["runbook_url"]
			if page != "runbooks/"+rule.Alert+".md" || !pages[page] {
				t.Errorf("%s has no page %s", rule.Alert, page)
			}
			if text := files[page]; !strings.HasPrefix(text, "# "+rule.Alert+"\n\n"+rule.Annotations["description"]) || !strings.Contains(text, "## Look") || !strings.Contains(text, "## Do") {
				t.Errorf("%s:\n%s", page, text)
			}
			delete(pages, page)
		}
		if len(pages) > 0 {
			t.Errorf("no alert has %v", pages)
		}
	})
}

// TestRunbookSQL runs the SQL of the pages, each statement in a transaction that rolls back.
func TestRunbookSQL(t *testing.T) {
	db := database(t)
	conn := db.Connect(t)
	ran := 0
	for path, text := range files(t, "testdata/spec.yaml") {
		for _, block := range blocks.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(path, "runbooks/") {
				continue
			}
			for _, statement := range pgtest.Split(block[1]) {
				tx, err := conn.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(t.Context(), statement); err != nil {
					t.Errorf("%s: %v\n%s", path, err, statement)
				}
				if err := tx.Rollback(t.Context()); err != nil {
					t.Fatal(err)
				}
				ran++
			}
		}
	}
	if ran < 25 {
		t.Errorf("the pages have %d statements", ran)
	}
}
