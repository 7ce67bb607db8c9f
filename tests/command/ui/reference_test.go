//go:build browser

package ui

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/program"
)

// serve serves a page, and nothing else.
func serve(t *testing.T, text string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" { // which browsers ask for by themselves
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// colored returns how the first box of a picture is filled, and its text.
const colored = "[...document.querySelectorAll('svg .box, svg .ink')].slice(0, 2).map(e => getComputedStyle(e).fill).join(' ')"

// fits reports whether nothing but what scrolls by itself is wider than the window.
const fits = "document.documentElement.scrollWidth <= innerWidth"

// TestReference searches the reference of an extension of the repository, and looks at it in both colours and on a phone.
func TestReference(t *testing.T) {
	text, err := installed.Load(t, installed.Shop()).ReferencePage()
	if err != nil {
		t.Fatal(err)
	}
	b := visit(t, serve(t, text), "/", 1)
	if n := eval[int](b, "[...document.querySelectorAll('.object .here')].filter(e => e.textContent === 'inbox_mark_processed').length"); n != 1 {
		t.Errorf("inbox_mark_processed has %d headings", n)
	}
	all := eval[int](b, "document.querySelectorAll('nav li:not([hidden])').length")
	b.slash()
	b.key("mark failed")
	b.waits("document.querySelector('#found').textContent.endsWith(' found')")
	if shown := eval[int](b, "document.querySelectorAll('nav li:not([hidden])').length"); shown == 0 || shown >= all/2 {
		t.Errorf("%d of %d contents are shown", shown, all)
	}
	b.key(kb.Enter)
	b.waits("location.hash === '#function-inbox_mark_failed'")
	b.key(kb.Escape)
	b.slash()
	b.key(kb.Escape)
	b.waits("document.querySelectorAll('nav li[hidden]').length === 0")
	b.slash()
	b.key("nosuchword")
	b.waits("document.querySelector('#found').textContent === '0 found' && document.querySelectorAll('nav li:not([hidden])').length === 0")
	b.looks(t)
}

// slash presses the key that leads to the search. As an event of the page: the browser's protocol writes the character after a key that a page has taken.
func (b *browser) slash() {
	b.t.Helper()
	b.does("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true, cancelable: true}))")
	b.waits("document.activeElement.id === 'search'")
}

// looks holds that pictures have other colours on dark systems, and that the page fits a phone.
func (b *browser) looks(t *testing.T) {
	t.Helper()
	b.colors("light")
	light := eval[string](b, colored)
	b.accessible("light")
	b.colors("dark")
	b.accessible("dark")
	if dark := eval[string](b, colored); light == dark || light == "" {
		t.Errorf("pictures have the colours %q on light systems, %q on dark ones", light, dark)
	}
	b.run(chromedp.EmulateViewport(390, 800))
	b.waits(fits)
}

// TestExplained looks at the pages of a query that is followed and of one that is recomputed.
func TestExplained(t *testing.T) {
	const spec = `version: 1
extension: {name: explained, version: 1.0.0}
schema: [schema.sql]
stream_tables:
  - name: public.totals
    query: |
      select customer, count(*) as orders from orders group by customer
  - name: public.ages
    query: |
      select id, now() - placed as age from orders
`
	dir := t.TempDir()
	for name, text := range map[string]string{"spec.yaml": spec, "schema.sql": "create table orders (id int primary key, customer int, placed timestamptz);"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page := func(name string) string {
		output, err := program.Command(t, "explain", name, "--format", "html", "-f", filepath.Join(dir, "spec.yaml")).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(output)
	}
	followed := visit(t, serve(t, page("public.totals")), "/", 1)
	followed.shows(".legend", "tables that are read")
	followed.looks(t)
	recomputed := visit(t, serve(t, page("public.ages")), "/", 1)
	recomputed.shows(".example", "select id, placed from orders")
	recomputed.accessible("light")
	recomputed.colors("dark")
	recomputed.accessible("dark")
	recomputed.run(chromedp.EmulateViewport(390, 800))
	recomputed.waits(fits)
}
