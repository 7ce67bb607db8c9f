package explain

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// codeLine is a line of SQL in pieces.
type codeLine struct {
	Number int
	Pieces []piece
}

// piece is a stretch of one kind: a keyword, a literal, a comment or none of them.
type piece struct {
	Kind sqltext.TokenKind
	Text string
}

// codeLines cuts SQL into lines, the first of which has the number given.
func codeLines(sql string, number int) []codeLine {
	sql = strings.TrimRight(sql, "\n")
	if sql == "" {
		return nil
	}
	c := coder{lines: []codeLine{{Number: number}}}
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

type coder struct{ lines []codeLine }

// add appends text, which may span lines.
func (c *coder) add(kind sqltext.TokenKind, text string) {
	for i, part := range strings.Split(text, "\n") {
		if i > 0 {
			c.lines = append(c.lines, codeLine{Number: c.lines[len(c.lines)-1].Number + 1})
		}
		if last := &c.lines[len(c.lines)-1]; part != "" {
			last.Pieces = append(last.Pieces, piece{kind, part})
		}
	}
}
