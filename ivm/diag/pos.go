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

// Block is a text that stands in a file, such as a query in a YAML scalar or a file of its own, and maps byte offsets in the text to places in the file.
type Block struct {
	File   string
	Text   string
	source string
	at     []int // the offset in source of each byte of Text, and of its end; nil if they are the same
}

// WholeFile is the block of a text that is a file of its own.
func WholeFile(file, text string) Block {
	return Block{File: file, Text: text, source: text}
}

// NewBlock is the block of a text whose bytes, and whose end, stand at these offsets in the text of a file.
func NewBlock(file, source, text string, at []int) Block {
	return Block{File: file, Text: text, source: source, at: at}
}

// Pos returns the place in the file of the byte at offset in the text; offsets outside the text are moved to its nearest end.
func (b Block) Pos(offset int) Pos {
	offset = max(0, min(offset, len(b.Text)))
	if b.at != nil {
		offset = b.at[offset]
	}
	before := b.source[:min(offset, len(b.source))]
	start := strings.LastIndexByte(before, '\n') + 1
	return Pos{File: b.File, Line: strings.Count(before, "\n") + 1, Col: utf8.RuneCountInString(before[start:]) + 1}
}
