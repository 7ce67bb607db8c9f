package diag

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// excerptWidth is how many characters of a long line are shown.
const excerptWidth = 120

// excerpt prints the line at p with a caret below the column, or nothing if the text is not known.
func (l *List) excerpt(b *strings.Builder, p Pos) {
	line, ok := l.line(p)
	if !ok {
		return
	}
	shown, col := window(line, p.Col-1)
	number := fmt.Sprint(p.Line)
	fmt.Fprintf(b, "  %s | %s\n", number, strings.TrimRight(string(shown), " "))
	fmt.Fprintf(b, "  %s | %s^\n", strings.Repeat(" ", len(number)), pad(shown[:col]))
}

func (l *List) line(p Pos) ([]rune, bool) {
	text, ok := l.sources[p.File]
	lines := strings.Split(text, "\n")
	if !ok || p.Line < 1 || p.Line > len(lines) {
		return nil, false
	}
	return []rune(strings.Map(printable, strings.TrimSuffix(lines[p.Line-1], "\r"))), true
}

// printable replaces what a terminal would obey.
func printable(r rune) rune {
	if r != '\t' && unicode.IsControl(r) {
		return unicode.ReplacementChar
	}
	return r
}

// window cuts a long line so that col stays in sight, and returns col within what is left.
func window(line []rune, col int) ([]rune, int) {
	col = max(0, min(col, len(line)))
	start := 0
	if col >= excerptWidth {
		start = col - excerptWidth/2
	}
	return line[start:min(len(line), start+excerptWidth)], col - start
}

// pad returns blanks as wide as the text is on a terminal; tabs stay tabs.
func pad(text []rune) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteString(blank(r))
	}
	return b.String()
}

// Width is how many columns a text takes on a terminal.
func Width(text string) int { return len(pad([]rune(text))) }

func blank(r rune) string {
	switch kind := width.LookupRune(r).Kind(); {
	case r == '\t':
		return "\t"
	case unicode.Is(unicode.Mn, r):
		return ""
	case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
		return "  "
	default:
		return " "
	}
}
