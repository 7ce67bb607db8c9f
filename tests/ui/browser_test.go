//go:build browser

package ui

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pgsluice/sluice/tests/pgtest"
)

// browser is a headless Chromium with one tab.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string // that the console shows
	asked  []string // URLs of all requests
}

// open starts a browser that ends with the test. What its page must not do fails the test.
func open(t *testing.T, s *site) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	b := &browser{t: t}
	ctx, cancel := chromedp.NewContext(allocated, chromedp.WithListener(b.note))
	t.Cleanup(cancel)
	b.ctx = ctx
	if err := chromedp.Do(ctx, chromedp.Navigate(s.url+"/")); err != nil { // starts the browser, which ends with the context
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, e := range b.errors {
			t.Errorf("the console shows: %s", e)
		}
		for _, asked := range b.asked {
			if !strings.HasPrefix(asked, s.url+"/") {
				t.Errorf("the page asks for %s", asked)
			}
		}
		if len(b.asked) < 5 {
			t.Errorf("%d requests were seen", len(b.asked))
		}
	})
	return b
}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, event.Request.URL)
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, event.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		for _, arg := range event.Args {
			b.errors = append(b.errors, string(event.Type)+": "+string(arg.Value)+arg.Description)
		}
	case *log.EventEntryAdded:
		if event.Entry.Level == log.EntryLevelError || event.Entry.Level == log.EntryLevelWarning {
			b.errors = append(b.errors, event.Entry.Text+" "+event.Entry.URL)
		}
	}
}

func (b *browser) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval is the value of an expression in the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%v in %s", err, expression)
	}
	return value
}

// does runs statements in the page.
func (b *browser) does(statements string) {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](statements))
}

// click clicks the first element that a selector finds.
func (b *browser) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(selector)))
}

// focus gives an element the focus of the keyboard.
func (b *browser) focus(selector string) {
	b.t.Helper()
	b.run(chromedp.Focus(chromedp.CSS(selector)))
}

// waits waits until an expression in the page is true.
func (b *browser) waits(expression string) {
	b.t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if eval[bool](b, "Boolean("+expression+")") {
			return
		}
	}
	b.t.Fatalf("within a minute not: %s\n%.3000s", expression, eval[string](b, "document.body.innerText"))
}

// shows waits until an element shows a text.
func (b *browser) shows(selector, text string) {
	b.t.Helper()
	b.waits("(document.querySelector(`" + selector + "`)?.textContent ?? '').includes(`" + text + "`)")
}

// goTo follows a link to a part of the page.
func (b *browser) goTo(kind, name string) {
	b.t.Helper()
	b.does("location.hash = `#" + kind + "/" + url.PathEscape(name) + "`")
	b.waits("document.getElementById('detail').open && document.getElementById('detail-title').textContent.endsWith(` " + name + "`)")
}

// key presses a key.
func (b *browser) key(key string) {
	b.t.Helper()
	b.run(chromedp.KeyEvent(key))
}

// colors has the system ask for light or dark pages.
func (b *browser) colors(scheme string) {
	b.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		b.t.Fatal(err)
	}
}

// harmless holds that nothing of a name or text was run, and that no picture of theirs is in the page.
func (b *browser) harmless() {
	b.t.Helper()
	if eval[bool](b, "window.boomed === true || document.querySelector('img') !== null || [...document.scripts].some((s) => s.src === '')") {
		b.t.Error("HTML of a name or text is in the page")
	}
}

const firstRow = "#inboxes tbody tr:last-child" // mail, after the name that begins with <

// TestPage shows figures that change, by the keyboard a dead letter and how to replay it, and what a stream table does.
func TestPage(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	b := open(t, start(t, db.DSN(), "--allow-actions"))
	b.does("window.boom = () => { window.boomed = true; }")
	b.shows("#title", "shown 1.0.0")
	b.shows("#versions", "1.0.0")
	b.shows("#problem-list", "consumer group shipping has 1 dead letters")
	b.shows(firstRow+" td:nth-of-type(2)", "2")
	b.shows("#flow svg", "2 pending")
	b.shows("#flow svg", hostile)

	// The picture changes its texts and keeps its elements, and so the focus.
	b.does("document.querySelector('#flow a').focus(); window.picture = document.querySelector('#flow svg')")
	db.Exec(t, "select pgtrickle.inbox_receive('mail', 'n' || i, 'note', '{}') from generate_series(1, 15) i")
	b.shows(firstRow+" td:nth-of-type(2)", "17")
	b.shows("#flow svg", "17 pending")
	b.waits("window.picture === document.querySelector('#flow svg') && document.activeElement.closest('#flow a')")
	b.harmless()

	// By the keyboard alone: to the inbox, to its dead letter, replay, and back.
	b.focus(firstRow + " a")
	b.key(kb.Enter)
	b.shows("#detail-title", "Inbox mail")
	b.shows("#detail-body", "no such street")
	if eval[bool](b, "document.body.textContent.includes('p4yload')") {
		t.Error("a payload is shown that nobody asked for")
	}
	b.focus("#detail button.link")
	b.key(kb.Enter)
	b.shows("#payload", "p4yload")
	b.focus("#replay")
	b.key(kb.Enter)
	b.shows("#detail-message", "1 replayed")
	b.shows("#detail-body", "none")
	if pgtest.One[int](t, db, "select count(*) from pgtrickle.mail_dlq") != 0 {
		t.Error("the dead letter is still dead")
	}
	b.click("#detail .buttons button")
	b.shows("#detail-message", "paused")
	b.shows("#detail .buttons button", "Resume")
	b.key(kb.Escape)
	b.waits("!document.getElementById('detail').open && document.activeElement.matches('#inboxes a') && location.hash === ''")

	b.goTo("group", "shipping")
	b.click("#detail button.link")
	b.shows("#payload", "3vent")
	b.click("#replay")
	b.shows("#detail-message", "1 replayed")
	b.goTo("stream_table", "public.sums")
	b.shows("#explain", "strategy: ")
	b.shows("#detail-body table", "differential")
	b.goTo("outbox", "events")
	b.shows("#detail-body", "Storage")
	b.does("location.hash = ''")
	b.waits("!document.getElementById('detail').open")
}

// TestHostile shows names, ids, errors and payloads that hold HTML as they are.
func TestHostile(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	b := open(t, start(t, db.DSN()))
	b.does("window.boom = () => { window.boomed = true; }")
	b.shows("#inboxes", hostile)
	b.shows("#problem-list", "shipping")
	b.goTo("inbox", hostile)
	b.shows("#detail-body", hostile)
	b.click("#detail button.link")
	b.shows("#payload", "</pre><script>boom()</script>")
	b.shows("#letter dl", hostile)
	b.harmless()
	if eval[bool](b, "[...document.querySelectorAll('button')].some((b) => /Replay|Pause/.test(b.textContent))") {
		t.Error("actions are offered that are not allowed")
	}
	b.does("location.hash = '#inbox/' + encodeURIComponent('<img src=y onerror=boom()>')")
	b.shows("#detail-message", "there is no inbox <img src=y onerror=boom()>")
	b.harmless()
}

// TestSizes fits a telephone, and follows the system into the dark.
func TestSizes(t *testing.T) {
	pgtest.Parallel(t)
	b := open(t, start(t, database(t).DSN()))
	b.run(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	b.shows("#inboxes", "mail")
	b.shows("#versions", "1.0.0")
	fits := "document.documentElement.scrollWidth <= 360 && [...document.querySelectorAll('.scroll, dialog')].every((e) => e.scrollWidth <= e.clientWidth + 1)"
	b.waits(fits)
	b.goTo("inbox", "mail")
	b.shows("#detail-body", "no such street")
	b.click("#detail button.link")
	b.shows("#payload", "p4yload")
	b.waits(fits)

	color := "getComputedStyle(document.body).backgroundColor"
	for scheme, want := range map[string]string{"dark": "rgb(27, 30, 34)", "light": "rgb(255, 255, 255)"} {
		b.colors(scheme)
		if got := eval[string](b, color); got != want {
			t.Errorf("%s: %s and not %s", scheme, got, want)
		}
	}
}

// TestLogin asks for the token, and shows the page to whoever knows it.
func TestLogin(t *testing.T) {
	pgtest.Parallel(t)
	b := open(t, start(t, database(t).DSN(), "--allow-actions", "--token", "env:SLUICE_TEST_TOKEN"))
	b.waits("location.pathname === '/login' && document.activeElement.id === 'token'")
	b.run(chromedp.SendKeys(chromedp.CSS("#token"), token+kb.Enter))
	b.shows("#title", "shown 1.0.0")
	if eval[string](b, "document.cookie") != "" || strings.Contains(eval[string](b, "location.href"), token) {
		t.Error("scripts or logs can see the token")
	}
	b.goTo("inbox", "mail")
	b.click("#detail .buttons button")
	b.shows("#detail-message", "paused")
}

// TestAway says that the database cannot be read, and keeps what was shown.
func TestAway(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	b := open(t, start(t, db.DSN()))
	b.shows("#inboxes", "mail")
	db.SuperExec(t, "alter table pgtrickle.pgt_extension rename to away")
	b.shows("#state", "cannot be read: nothing is installed in schema pgtrickle")
	b.shows("#inboxes", "mail")
	db.SuperExec(t, "alter table pgtrickle.away rename to pgt_extension")
	b.shows("#state", "read at")
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		if !strings.Contains(e, "422") {
			t.Errorf("the console shows: %s", e)
		}
	}
	b.errors = nil // the browser notes answers that are errors
}
