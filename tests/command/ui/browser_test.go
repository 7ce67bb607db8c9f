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
)

// browser is a headless Chromium with one tab.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string // that the console shows
	asked  []string // URLs of all requests
}

// open has a browser show the page of sluice ui.
func open(t *testing.T, s *site) *browser {
	t.Helper()
	return visit(t, s.url, "/", 5)
}

// visit starts a browser that ends with the test. What its page must not do fails the test, as does a page that asks for fewer files than it has.
func visit(t *testing.T, server, path string, files int) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	b := &browser{t: t}
	ctx, cancel := chromedp.NewContext(allocated, chromedp.WithListener(b.note))
	t.Cleanup(cancel)
	b.ctx = ctx
	if err := chromedp.Do(ctx, chromedp.Navigate(server+path)); err != nil { // starts the browser, which ends with the context
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, e := range b.errors {
			t.Errorf("the console shows: %s", e)
		}
		for _, asked := range b.asked {
			if !strings.HasPrefix(asked, server+"/") {
				t.Errorf("the page asks for %s", asked)
			}
		}
		if len(b.asked) < files {
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
