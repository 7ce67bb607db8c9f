package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Limit is how many errors a List prints before it only counts the rest.
const Limit = 50

// Error is one thing that is wrong in a user's file.
type Error struct {
	Pos
	Code    string // stable, for example unknown-field
	Message string
	Hint    string // what to do about it; may be empty
	Also    []Note // other places that have to do with it

	IsWarning bool // it is no error, but likely not meant
	IsNote    bool // it is neither, but worth knowing
}

// Note points at a second place, such as the first of two definitions.
type Note struct {
	Pos
	Message string
}

// Error prints the error on one line.
func (e Error) Error() string {
	kind := "error"
	switch {
	case e.IsWarning:
		kind = "warning"
	case e.IsNote:
		kind = "note"
	}
	return fmt.Sprintf("%s: %s: %s [%s]", e.Pos, kind, e.Message, e.Code)
}

// List collects errors together with the texts of the files they point into.
type List struct {
	errors  []Error
	sources map[string]string
}

// Add records an error.
func (l *List) Add(e Error) { l.errors = append(l.errors, e) }

// AddSource keeps the text of a file for the excerpts.
func (l *List) AddSource(file, text string) {
	if l.sources == nil {
		l.sources = map[string]string{}
	}
	l.sources[file] = text
}

// Source returns the text kept for a file.
func (l *List) Source(file string) (text string, ok bool) {
	text, ok = l.sources[file]
	return text, ok
}

// Merge adds the errors and sources of another list.
func (l *List) Merge(other *List) {
	l.errors = append(l.errors, other.errors...)
	for file, text := range other.sources {
		l.AddSource(file, text)
	}
}

// Without is the list without the errors that have one of these codes.
func (l *List) Without(codes ...string) *List {
	rest := &List{sources: l.sources}
	for _, e := range l.errors {
		if !slices.Contains(codes, e.Code) {
			rest.Add(e)
		}
	}
	return rest
}

// Len counts the errors recorded so far, repeated ones included.
func (l *List) Len() int { return len(l.errors) }

// Empty reports whether nothing is wrong.
func (l *List) Empty() bool { return len(l.errors) == 0 }

// Errors returns the errors by file, line and column, each once.
func (l *List) Errors() []Error {
	sorted := slices.Clone(l.errors)
	slices.SortStableFunc(sorted, func(a, b Error) int {
		return cmp.Or(a.Pos.compare(b.Pos), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(sorted, func(a, b Error) bool {
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}

// Err returns nil if nothing is wrong, and else the list as an error.
func (l *List) Err() error {
	if l.Empty() {
		return nil
	}
	return l
}

// Error prints the list, so that it can be returned as an error.
func (l *List) Error() string { return l.String() }

// String prints every error with its excerpt, up to Limit, separated by blank lines.
func (l *List) String() string {
	errors := l.Errors()
	var b strings.Builder
	for i, e := range errors[:min(len(errors), Limit)] {
		if i > 0 {
			b.WriteByte('\n')
		}
		l.print(&b, e)
	}
	if more := len(errors) - Limit; more > 0 {
		fmt.Fprintf(&b, "\nand %d more\n", more)
	}
	return b.String()
}

func (l *List) print(b *strings.Builder, e Error) {
	b.WriteString(e.Error() + "\n")
	l.excerpt(b, e.Pos)
	for _, note := range e.Also {
		fmt.Fprintf(b, "%s: note: %s\n", note.Pos, note.Message)
		l.excerpt(b, note.Pos)
	}
	if e.Hint != "" {
		fmt.Fprintf(b, "hint: %s\n", e.Hint)
	}
}
