package spec

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// scalarOffsets returns the offset in a YAML text of each byte of a scalar's value, and of its end. Folding and indentation change only white space, so
// the other characters of the value follow those of the text one by one, each as itself or as an escape.
func scalarOffsets(source string, n *yaml.Node) []int {
	w := scalarWalk{source: source, style: n.Style, at: scalarStart(source, n)}
	var offsets []int
	end := w.at // behind the last character that is no white space
	for _, r := range n.Value {
		if !unicode.IsSpace(r) {
			w.skipSpace()
		}
		for range utf8.RuneLen(r) {
			offsets = append(offsets, w.at)
		}
		if size, isSpace := w.next(); isSpace || !unicode.IsSpace(r) {
			w.at += size
		}
		if !unicode.IsSpace(r) {
			end = w.at
		}
	}
	return append(offsets, end)
}

// properties are the anchor and the tag before a value.
var properties = regexp.MustCompile(`^([&!]\S*\s+)*`)

// scalarStart returns the offset of a scalar's first character, after its anchor, tag, quote or header.
func scalarStart(source string, n *yaml.Node) int {
	at := lineStart(source, n.Line)
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(source[at:])
		at += size
	}
	at += len(properties.FindString(source[at:]))
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		return min(at+strings.Index(source[at:]+"\n", "\n")+1, len(source))
	case yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle:
		return at + 1
	}
	return at
}

// lineStart returns the offset of a line, from 1.
func lineStart(source string, line int) (at int) {
	for range line - 1 {
		at += strings.IndexByte(source[at:], '\n') + 1
	}
	return at
}

// scalarWalk goes through the text of a scalar.
type scalarWalk struct {
	source string
	style  yaml.Style
	at     int
}

// next returns the size of the character or escape that comes next, and whether it may stand for white space.
func (w *scalarWalk) next() (size int, isSpace bool) {
	rest := w.source[w.at:]
	switch {
	case w.style&yaml.DoubleQuotedStyle != 0 && len(rest) > 1 && rest[0] == '\\':
		return w.escape(rest)
	case w.style&yaml.SingleQuotedStyle != 0 && strings.HasPrefix(rest, "''"):
		return 2, false
	}
	r, size := utf8.DecodeRuneInString(rest)
	return size, unicode.IsSpace(r)
}

func (w *scalarWalk) escape(text string) (size int, isSpace bool) {
	digits, isCode := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	if !isCode || len(text) < 2+digits {
		return 2, strings.IndexByte("nrtvfNLP_ \t\n", text[1]) >= 0
	}
	code, _ := strconv.ParseUint(text[2:2+digits], 16, 32)
	return 2 + digits, unicode.IsSpace(rune(code))
}

func (w *scalarWalk) skipSpace() {
	for w.at < len(w.source) {
		size, isSpace := w.next()
		if !isSpace {
			return
		}
		w.at += size
	}
}

// commentOverFold finds a comment to the end of the line whose line YAML has joined with the next one, which would belong to the comment, too.
func commentOverFold(source, value string, at []int) (offset int, is bool) {
	for start := 0; start < len(value); {
		end := start + strings.IndexByte(value[start:]+"\n", '\n')
		comment := strings.Index(value[start:end], "--")
		for i := start + comment; comment >= 0 && i < end; i++ {
			if at[i] < len(source) && source[at[i]] == '\n' {
				return start + comment, true
			}
		}
		start = end + 1
	}
	return 0, false
}
