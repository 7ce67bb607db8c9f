// Package docs writes the reference of a generated extension, for those who use it and those who are called when it misbehaves: as Markdown
// and as a page. It is made of the same objects as the SQL.
package docs

import (
	"crypto/md5"
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/page"
)

// part is a section, or an object in it.
type part struct {
	ID     string // of its anchor
	Kind   string // of object; empty for sections
	Title  string
	IsName bool // the title is a name
	Blocks []block
	Parts  []part
	Folded bool // of interest to few
	Level  int  // of its heading
}

// block is a paragraph, or one of its other fields.
type block struct {
	Text    text
	Facts   []fact
	Table   *table
	SQL     string
	Picture *page.Picture
}

type fact struct {
	Name  string
	Value text
}

type table struct {
	Head []string
	Rows [][]text
}

// text is a line of prose.
type text []span

// span is a stretch of text: plain, code, or a link to an anchor.
type span struct {
	Text string
	Code bool
	Link string
	ID   string // of an anchor here
}

// say makes text of a format in which code stands in backticks; %s is replaced by an argument as it is.
func say(format string, args ...string) text {
	var t text
	for n, piece := range strings.Split(format, "`") {
		values := make([]any, strings.Count(piece, "%s"))
		for i := range values {
			values[i], args = args[0], args[1:]
		}
		if piece != "" {
			t = append(t, span{Text: fmt.Sprintf(piece, values...), Code: n%2 == 1})
		}
	}
	return t
}

func plain(s string) text { return text{{Text: s}} }
func code(s string) text  { return text{{Text: s, Code: true}} }

// linked is a name that leads to where it is described.
func linked(kind, name string) text { return text{{Text: name, Code: true, Link: anchor(kind, name)}} }

// joined puts texts behind each other.
func joined(texts ...text) text {
	var all text
	for _, t := range texts {
		all = append(all, t...)
	}
	return all
}

// listed puts commas between texts.
func listed(texts []text) text {
	var all text
	for n, t := range texts {
		if n > 0 {
			all = append(all, span{Text: ", "})
		}
		all = append(all, t...)
	}
	return all
}

// anchor is the id of an object: its name where that can stand in an address, otherwise with a digest of it.
func anchor(kind, name string) string {
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, name)
	if slug != name {
		slug += fmt.Sprintf("-%x", md5.Sum([]byte(name)))[:8]
	}
	return strings.ReplaceAll(kind, " ", "-") + "-" + slug
}

func paragraph(t text) block { return block{Text: t} }
