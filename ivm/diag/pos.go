// Package diag reports what is wrong with a user's files: where it stands, what was expected, and the line with a caret below it.
package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Pos is a place in a file. Line and Col are 1-based and Col counts characters; Line 0 means the file as a whole.
type Pos struct {
	File      string
	Line, Col int
}

// String prints the position as editors read it: file:line:col.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Before orders positions by file, line and column.
func (p Pos) Before(q Pos) bool { return p.compare(q) < 0 }

func (p Pos) compare(q Pos) int {
	if c := strings.Compare(p.File, q.File); c != 0 {
		return c
	}
	if p.Line != q.Line {
		return p.Line - q.Line
	}
	return p.Col - q.Col
}

// Block is a text that stands in a file at a constant indentation, such as a query in a YAML `|` block or a file of its own,
// and maps byte offsets in the text to places in the file.
type Block struct {
	File   string
	Line   int // of the text's first line
	Indent int // columns cut off each line
	Text   string
}

// WholeFile is the block of a text that is a file of its own.
func WholeFile(file, text string) Block {
	return Block{File: file, Line: 1, Text: text}
}

// LiteralBlock is the block of the YAML literal whose `|` indicator stands on line indicator of source and whose value is text.
func LiteralBlock(file, source string, indicator int, text string) Block {
	lines := strings.Split(source, "\n")
	b := Block{File: file, Line: indicator + 1, Text: text}
	for i, line := range strings.Split(text, "\n") {
		if at := indicator + i; strings.TrimSpace(line) != "" && at < len(lines) {
			b.Indent = leadingSpaces(lines[at]) - leadingSpaces(line)
			return b
		}
	}
	return b
}

// Pos returns the place in the file of the byte at offset in the text; offsets outside the text are moved to its nearest end.
func (b Block) Pos(offset int) Pos {
	offset = max(0, min(offset, len(b.Text)))
	before := b.Text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return Pos{
		File: b.File,
		Line: b.Line + strings.Count(before, "\n"),
		Col:  b.Indent + utf8.RuneCountInString(before[start:]) + 1,
	}
}

func leadingSpaces(line string) int {
	return len(line) - len(strings.TrimLeft(line, " "))
}
