// Package page draws pictures of boxes and arrows, and has what pages of several kinds share: code in colours, and a style.
package page

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Line is a line of SQL in pieces.
type Line struct {
	Number int
	Pieces []Piece
}

// Piece is a stretch of one kind: a keyword, a literal, a comment or none of them.
type Piece struct {
	Kind sqltext.TokenKind
	Text string
}

// Code cuts SQL into lines, the first of which has the number given.
func Code(sql string, number int) []Line {
	sql = strings.TrimRight(sql, "\n")
	if sql == "" {
		return nil
	}
	c := coder{lines: []Line{{Number: number}}}
	end := 0
	for _, t := range joined(sql, sqltext.Tokens(sql)) {
		c.add("", sql[end:t.Start])
		c.add(t.Kind, sql[t.Start:t.End])
		end = t.End
	}
	c.add("", sql[end:])
	return c.lines
}

// joined makes one of neighbours of one kind with nothing but blanks between them.
func joined(sql string, tokens []sqltext.Token) []sqltext.Token {
	var fewer []sqltext.Token
	for _, t := range tokens {
		if n := len(fewer); n > 0 && fewer[n-1].Kind == t.Kind && strings.Trim(sql[fewer[n-1].End:t.Start], " ") == "" {
			fewer[n-1].End = t.End
			continue
		}
		fewer = append(fewer, t)
	}
	return fewer
}

type coder struct{ lines []Line }

// add appends text, which may span lines.
func (c *coder) add(kind sqltext.TokenKind, text string) {
	for i, part := range strings.Split(text, "\n") {
		if i > 0 {
			c.lines = append(c.lines, Line{Number: c.lines[len(c.lines)-1].Number + 1})
		}
		if last := &c.lines[len(c.lines)-1]; part != "" {
			last.Pieces = append(last.Pieces, Piece{kind, part})
		}
	}
}
