package cli

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

// lastLine is the bottom line of a terminal, which shows how far something has come.
type lastLine struct {
	mu    sync.Mutex
	out   io.Writer
	width func() int // of the terminal
	shown bool
}

const clearLine = "\r\x1b[K"

// show puts a text in place of the last one, as much of it as the terminal is wide.
func (l *lastLine) show(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if runes, width := []rune(text), l.width(); len(runes) >= width {
		text = string(runes[:max(width-1, 0)])
	}
	if l.shown || text != "" {
		fmt.Fprint(l.out, clearLine+text)
	}
	l.shown = text != ""
}

// log prints a line that stays.
func (l *lastLine) log(format string, args ...any) {
	l.show("")
	fmt.Fprintf(l.out, format+"\n", args...)
}

// progressOn describes how it goes: in a line that changes on a terminal, in lines now and then elsewhere.
func progressOn(out io.Writer, dsn string) *live.Progress {
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		line := &lastLine{out: file, width: func() int { width, _, _ := term.GetSize(int(file.Fd())); return width }}
		return &live.Progress{DSN: dsn, Log: line.log, Line: line.show}
	}
	return &live.Progress{DSN: dsn, Log: func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }}
}
