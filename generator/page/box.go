package page

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/diag"
)

// Sizes in pixels; text is monospaced.
const (
	charWidth  = 7.25 // of 12 px text
	lineHeight = 16
	padding    = 9
	stripe     = 4
)

// Box is a box of a picture.
type Box struct {
	Kind  string   // what it is, in bold on the first line
	Of    string   // of what, behind it
	Lines []string // below
	Notes []string // below a rule, in faint letters
	Full  string   // shown by a pointer over it
	Color string   // of the stripe at its left edge; empty: grey
	Link  string   // where it leads, on the same page; empty: nowhere

	width, height int
	at            point // its upper left corner
}

// head is the first line.
func (b *Box) head() string { return strings.TrimSpace(b.Kind + " " + b.Of) }

func (b *Box) measure() {
	chars := diag.Width(b.head())
	for _, line := range append(append([]string{}, b.Lines...), b.Notes...) {
		chars = max(chars, diag.Width(line)+strings.Count(line, "⋈")+strings.Count(line, "⋉")) // these are wide in many fonts
	}
	b.width = int(float64(chars)*charWidth) + 2*padding + stripe
	b.height = (1+len(b.Lines)+len(b.Notes))*lineHeight + padding
	if len(b.Notes) > 0 {
		b.height += padding / 2
	}
}

// Wrap fills lines with texts. One that is too long for a line is broken at its blanks, and a word that is too long has a line of its own.
func Wrap(texts []string, at int) []string {
	var lines []string
	line := ""
	put := func(text string) {
		if line != "" && diag.Width(line)+1+diag.Width(text) > at {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+text, " ")
	}
	for _, text := range texts {
		if diag.Width(text) <= at {
			put(text)
			continue
		}
		for _, word := range strings.Fields(text) {
			put(word)
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
