package explain

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Sizes in pixels; text is monospaced.
const (
	charWidth  = 7.25 // of 12 px text
	lineHeight = 16
	padding    = 9
	stripe     = 4
)

// Sizes of boxes in characters and lines.
const (
	wrapAt    = 34
	wrapLawAt = 42 // only trees of views have laws, and those are narrow
	maxLines  = 10
)

// box is an operator in a picture.
type box struct {
	algebra.Description
	lines         []string // what it does, wrapped
	law           []string // how it is differentiated, wrapped
	full          string   // what it does, not wrapped
	width, height int
	at            point // its upper left corner
}

func newBox(d algebra.Description, law string) *box {
	b := &box{Description: d}
	texts := wrap(listed(d.Keys, "by ", ","), wrapAt)
	between := ","
	if d.Kind == "filter" || d.Kind == "join" {
		between = " and"
	}
	texts = append(texts, wrap(listed(d.Items, "", between), wrapAt)...)
	b.full = strings.Join(texts, "\n")
	b.lines = short(texts)
	b.law = wrap(strings.Fields(law), wrapLawAt)
	b.measure()
	return b
}

// head is the first line.
func (b *box) head() string { return strings.TrimSpace(b.Kind + " " + b.Of) }

func (b *box) measure() {
	chars := diag.Width(b.head())
	for _, line := range append(append([]string{}, b.lines...), b.law...) {
		chars = max(chars, diag.Width(line)+strings.Count(line, "⋈")+strings.Count(line, "⋉")) // these are wide in many fonts
	}
	b.width = int(float64(chars)*charWidth) + 2*padding + stripe
	b.height = (1+len(b.lines)+len(b.law))*lineHeight + padding
	if len(b.law) > 0 {
		b.height += padding / 2
	}
}

// short leaves out lines that a box has no room for.
func short(lines []string) []string {
	if len(lines) <= maxLines {
		return lines
	}
	return append(append([]string{}, lines[:maxLines-1]...), "…")
}

// listed puts a word before the first item and a separator behind all but the last.
func listed(items []string, before, between string) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item
		if i == 0 {
			texts[i] = before + item
		}
		if i < len(items)-1 {
			texts[i] += between
		}
	}
	return texts
}

// wrap fills lines with texts. One that is too long for a line is broken at its blanks, and a word that is too long has a line of its own.
func wrap(texts []string, at int) []string {
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
