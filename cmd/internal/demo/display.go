package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"
)

// display shows how far the run is: a bar on a terminal, lines elsewhere. What is written to it are notes.
type display interface {
	io.Writer
	note(format string, args ...any)
	progress(done, total int)
	close() // ends the bar; notes still work
}

func newDisplay(out io.Writer) display {
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return &bar{lines: lines{out: out}}
	}
	return &lines{out: out}
}

// lines is the display for logs.
type lines struct {
	mu   sync.Mutex
	out  io.Writer
	last time.Time // of the latest word on progress
	done int
}

func (l *lines) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, format+"\n", args...)
}

func (l *lines) Write(text []byte) (int, error) {
	l.note("%s", strings.TrimRight(string(text), "\n"))
	return len(text), nil
}

// progress says something once a second, and at the end.
func (l *lines) progress(done, total int) {
	if done != total && time.Since(l.last) < time.Second || done == l.done {
		return
	}
	l.last, l.done = time.Now(), done
	l.note("%d of %d events settled", done, total)
}

func (l *lines) close() {}

// bar is the display for terminals. It exists from the first progress to close; before and after it there are lines.
type bar struct {
	lines
	mu      sync.Mutex
	writer  progress.Writer // nil while there is no bar
	tracker *progress.Tracker
	ended   chan struct{}
}

func (b *bar) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writer == nil {
		b.lines.note(format, args...)
		return
	}
	b.writer.Log(format, args...)
}

func (b *bar) Write(text []byte) (int, error) {
	b.note("%s", strings.TrimRight(string(text), "\n"))
	return len(text), nil
}

func (b *bar) progress(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writer == nil {
		b.open(total)
	}
	b.tracker.SetValue(int64(done))
}

func (b *bar) open(total int) {
	writer, ended := progress.NewWriter(), make(chan struct{})
	writer.SetOutputWriter(b.out)
	writer.SetStyle(progress.StyleBlocks)
	writer.SetUpdateFrequency(50 * time.Millisecond)
	writer.SetTrackerLength(40)
	writer.Style().Visibility.TrackerOverall = false
	b.tracker = &progress.Tracker{Message: "events settled", Total: int64(total)}
	writer.AppendTracker(b.tracker)
	go func() {
		writer.Render()
		close(ended)
	}()
	b.writer, b.ended = writer, ended
}

func (b *bar) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writer == nil {
		return
	}
	b.tracker.MarkAsDone()
	b.writer.Stop()
	<-b.ended
	b.writer = nil
}
