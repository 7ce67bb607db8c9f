//go:build browser

package ui

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const firstRow = "#inboxes tbody tr:last-child" // mail, after the name that begins with <

// TestPage shows figures that change, by the keyboard a dead letter and how to replay it, and what a stream table does.
func TestPage(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	b := open(t, start(t, db.DSN(), "--allow-actions"))
	b.does("window.boom = () => { window.boomed = true; }")
	b.shows("#title", "shown 1.0.0")
	b.shows("#versions", "1.0.0")
	b.shows("#problem-list", "consumer group shipping has 1 dead letter")
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

// TestMonitorPage says what a role that only monitors may not read.
func TestMonitorPage(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	b := open(t, start(t, db.Server.DSN(db.Name, "user=ui_watch")))
	b.goTo("inbox", "mail")
	b.click("#detail button.link")
	b.shows("#letter", "no such street")
	b.shows("#letter", "this role may not read the payload")
	b.goTo("stream_table", "public.sums")
	b.shows("#explain", "strategy: ")
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
