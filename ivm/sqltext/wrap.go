package sqltext

import (
	"strings"
	"unicode/utf8"
)

// LineWidth is how long lines of generated SQL get.
const LineWidth = 140

// Kinds of text that a byte of SQL belongs to.
const (
	codeText    = 'c'
	stringText  = 's' // of a string constant without escapes
	commentText = '-'
	otherText   = 'o' // in which no line may break
)

// Wrap breaks lines that are longer than LineWidth: code between tokens, string constants between words, which go on in another constant, and comments.
// Blanks at the ends of lines of code and of comments are left out.
func Wrap(sql string) string {
	if !hasLongLine(sql) && !strings.Contains(sql, " \n") {
		return sql
	}
	kinds := textKinds(sql)
	var lines []wrapped
	for start := 0; start <= len(sql); {
		end := len(sql)
		if n := strings.IndexByte(sql[start:], '\n'); n >= 0 {
			end = start + n
		}
		lines = append(lines, wrapped{text: sql[start:end], kinds: kinds[start:end], indent: leadingSpace(sql[start:end])})
		start = end + 1
	}
	var out strings.Builder
	for n := 0; n < len(lines); n++ {
		line := lines[n]
		// The rest of a comment line that is too long goes to the next line of its sentence.
		for n+1 < len(lines) && line.long() && line.goesOn() && lines[n+1].isComment() && lines[n+1].indent == line.indent {
			n++
			line.text += " " + lines[n].text[len(line.indent)+len("-- "):]
		}
		line.trim()
		line.write(&out)
		if n+1 < len(lines) {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// Deeper indents each line that does not begin within a literal.
func Deeper(spaces int, sql string) string {
	kinds, indent := textKinds(sql), strings.Repeat(" ", spaces)
	var out strings.Builder
	for i := range len(sql) {
		if begins := i == 0 || sql[i-1] == '\n' && kinds[i-1] == codeText; begins && sql[i] != '\n' {
			out.WriteString(indent)
		}
		out.WriteByte(sql[i])
	}
	return out.String()
}

func hasLongLine(sql string) bool {
	for line := range strings.SplitSeq(sql, "\n") {
		if utf8.RuneCountInString(line) > LineWidth {
			return true
		}
	}
	return false
}

func leadingSpace(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " "))] }

// wrapped is a line that is being wrapped.
type wrapped struct {
	text   string
	kinds  []byte
	indent string
}

func (w wrapped) long() bool { return utf8.RuneCountInString(w.text) > LineWidth }

// trim leaves out blanks at the end of the line, unless they are within a literal.
func (w *wrapped) trim() {
	for n := len(w.kinds); n > 0 && w.text[n-1] == ' ' && (w.kinds[n-1] == codeText || w.kinds[n-1] == commentText) && len(w.text) == n; n-- {
		w.text, w.kinds = w.text[:n-1], w.kinds[:n-1]
	}
}

// isComment reports whether the line is nothing but a comment.
func (w wrapped) isComment() bool {
	return strings.HasPrefix(w.text[len(w.indent):], "-- ") && w.kinds[len(w.indent)] == commentText
}

// goesOn reports whether the line is a comment that does not end a sentence.
func (w wrapped) goesOn() bool {
	return w.isComment() && !strings.ContainsAny(w.text[len(w.text)-1:], ".:;")
}

func (w wrapped) write(out *strings.Builder) {
	if !w.long() {
		out.WriteString(w.text)
		return
	}
	if at := strings.IndexByte(string(w.kinds), commentText); at >= 0 && w.kinds[0] == codeText || at == 0 {
		writeComment(out, w.indent, strings.TrimPrefix(w.text[at:], "-- "))
		if strings.TrimSpace(w.text[:at]) == "" {
			return
		}
		out.WriteByte('\n')
		w.text = strings.TrimRight(w.text[:at], " ")
		w.kinds = w.kinds[:len(w.text)]
	}
	for deeper := w.indent + "    "; utf8.RuneCountInString(w.text) > LineWidth; {
		at := w.breakAt(len(leadingSpace(w.text)) + 40)
		if at < 0 {
			break
		}
		prefix, kinds := deeper, strings.Repeat(string(codeText), len(deeper))
		if w.kinds[at] == stringText {
			at++ // the space stays where it is
			out.WriteString(w.text[:at] + "'\n")
			prefix, kinds = prefix+"'", kinds+string(otherText)
		} else {
			out.WriteString(strings.TrimRight(w.text[:at], " ") + "\n")
			at++
		}
		w.text, w.kinds = prefix+w.text[at:], append([]byte(kinds), w.kinds[at:]...)
	}
	out.WriteString(w.text)
}

// breakAt is the space at which the line breaks, from byte least on: in code, of those in the fewest parentheses the last one that fits, else in a string;
// negative if there is none.
func (w wrapped) breakAt(least int) int {
	best, bestDepth, text, depth := -1, 0, -1, 0
	columns := 0
	for i, r := range w.text {
		if columns++; columns > LineWidth {
			break
		}
		switch {
		case w.kinds[i] == stringText && r == ' ' && i >= least && columns < LineWidth:
			text = i
		case w.kinds[i] != codeText:
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ' ' && i >= least && (best < 0 || depth <= bestDepth):
			best, bestDepth = i, depth
		}
	}
	if best < 0 {
		return text
	}
	return best
}

// writeComment writes a comment as lines of comments.
func writeComment(out *strings.Builder, indent, text string) {
	line := indent + "--"
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line+" "+word) > LineWidth {
			out.WriteString(line + "\n")
			line = indent + "--"
		}
		line += " " + word
		empty = false
	}
	out.WriteString(line)
}

// textKinds returns the kind of text that each byte belongs to. Text in dollar quotes with a tag of Sluice's is code.
func textKinds(sql string) []byte {
	kinds := make([]byte, len(sql))
	mark := func(from, to int, kind byte) {
		for i := from; i < min(to, len(sql)); i++ {
			kinds[i] = kind
		}
	}
	for i := 0; i < len(sql); {
		end, kind := textAt(sql, i)
		mark(i, end, kind)
		if kind == stringText { // the quotes themselves
			kinds[i] = otherText
			mark(end-1, end, otherText)
		}
		i = end
	}
	return kinds
}

// textAt is where the text that begins at a byte ends, and its kind.
func textAt(sql string, i int) (end int, kind byte) {
	rest := sql[i:]
	switch {
	case strings.HasPrefix(rest, "--"):
		return endAfter(sql, i, "\n") - 1, commentText
	case strings.HasPrefix(rest, "/*"):
		return endAfter(sql, i+2, "*/"), otherText
	case rest[0] == '"':
		return endAfter(sql, i+1, `"`), otherText
	case rest[0] == '\'' && i > 0 && isWord(sql[i-1]):
		return endOfEscaped(sql, i+1), otherText
	case rest[0] == '\'':
		return endOfString(sql, i+1), stringText
	case rest[0] == '$' && (i == 0 || !isWord(sql[i-1])):
		return dollarQuoted(sql, i)
	}
	return i + 1, codeText
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '&' || c >= 0x80
}

func endAfter(sql string, from int, mark string) int {
	if n := strings.Index(sql[min(from, len(sql)):], mark); n >= 0 {
		return from + n + len(mark)
	}
	return len(sql) + 1
}

// endOfString is after the quote that ends a string constant; two quotes stand for one.
func endOfString(sql string, from int) int {
	for i := from; i < len(sql); i++ {
		if sql[i] == '\'' {
			if i+1 < len(sql) && sql[i+1] == '\'' {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(sql)
}

// endOfEscaped is endOfString where a backslash escapes.
func endOfEscaped(sql string, from int) int {
	for i := from; i < len(sql); i++ {
		switch sql[i] {
		case '\\':
			i++
		case '\'':
			if i+1 < len(sql) && sql[i+1] == '\'' {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(sql)
}

// ownTags are those of bodies of code.
var ownTags = []string{"$function$", "$procedure$", "$do$"}

// dollarQuoted is the text of a dollar quote, or the quote alone where code stands in it.
func dollarQuoted(sql string, i int) (end int, kind byte) {
	n := strings.IndexByte(sql[i+1:], '$')
	if n < 0 || strings.ContainsFunc(sql[i+1:i+1+n], func(r rune) bool { return r < 0x80 && !isWord(byte(r)) }) {
		return i + 1, codeText
	}
	tag := sql[i : i+n+2]
	for _, own := range ownTags {
		if tag == own {
			return i + len(tag), codeText
		}
	}
	if n > 0 && tag[1] >= '0' && tag[1] <= '9' { // $1
		return i + 1, codeText
	}
	return endAfter(sql, i+len(tag), tag), otherText
}
