package ddl

import (
	"github.com/pgsluice/sluice/ivm/sqltext"
	"regexp"
	"strings"
)

// span is one statement of a script, from its first character to before its semicolon.
type span struct{ start, end int }

// splitter cuts a script into statements as psql does. It knows quotes, comments, bodies of BEGIN ATOMIC, psql's own commands and the
// data after COPY … FROM stdin, but no grammar, so that a statement it cannot parse costs no other one.
type splitter struct {
	text   string
	at     int
	start  int // of the statement that is being read, or -1
	words  int // of that statement so far
	last   string
	rule   bool // it is CREATE RULE, whose parentheses may hold semicolons
	depth  int  // of parentheses in CREATE RULE
	atomic int  // of BEGIN ATOMIC and CASE
	spans  []span
	open   *sqltext.Error // what is never closed
}

const byteOrderMark = "\ufeff"

// split returns the statements of a script; the error is a quote or comment that is never closed.
func split(script string) ([]span, *sqltext.Error) {
	s := &splitter{text: script, start: -1}
	if strings.HasPrefix(script, byteOrderMark) {
		s.at = len(byteOrderMark)
	}
	for s.at < len(s.text) {
		s.step()
	}
	s.finish(len(s.text))
	return s.spans, s.open
}

// step reads one token.
func (s *splitter) step() {
	c, rest := s.text[s.at], s.text[s.at:]
	switch {
	case strings.HasPrefix(rest, "--"):
		s.at = s.lineEnd()
		return
	case strings.HasPrefix(rest, "/*"):
		s.comment()
		return
	case c == '\\':
		s.finish(s.at)
		s.at = s.lineEnd()
		return
	case c == ';' && s.depth == 0 && s.atomic == 0:
		s.semicolon()
		return
	case isBlank(c):
		s.at++
		return
	case s.start < 0:
		s.start = s.at
	}
	s.token(c)
}

// token reads a token of a statement.
func (s *splitter) token(c byte) {
	switch {
	case c == '\'':
		s.quoted('\'', false)
	case c == '"':
		s.quoted('"', false)
	case c == '$':
		s.dollar()
	case sqltext.IsWordStart(c):
		s.word()
	case c >= '0' && c <= '9':
		s.at = s.wordEnd()
	default:
		s.parenthesis(c)
		s.at++
	}
}

func (s *splitter) parenthesis(c byte) {
	switch {
	case !s.rule:
	case c == '(':
		s.depth++
	case c == ')' && s.depth > 0:
		s.depth--
	}
}

func (s *splitter) semicolon() {
	copied := s.start >= 0 && copyFromStdin.MatchString(s.text[s.start:s.at])
	s.finish(s.at)
	s.at++
	if copied {
		s.skipData()
	}
}

// finish ends the statement that is being read.
func (s *splitter) finish(end int) {
	if s.start >= 0 {
		s.spans = append(s.spans, span{s.start, s.start + len(strings.TrimRight(s.text[s.start:end], " \t\r\n\f\v"))})
	}
	s.start, s.words, s.last, s.rule, s.depth, s.atomic = -1, 0, "", false, 0, 0
}

var copyFromStdin = regexp.MustCompile(`(?is)^copy\b.*\bfrom\s+stdin\b`)

// skipData skips the lines after COPY … FROM stdin up to the line \. that ends them.
func (s *splitter) skipData() {
	for s.at = s.lineEnd(); s.at < len(s.text); {
		s.at++
		end := s.lineEnd()
		line := strings.TrimSuffix(s.text[s.at:end], "\r")
		s.at = end
		if line == `\.` {
			return
		}
	}
}

// word reads a word and follows CREATE RULE and BEGIN ATOMIC … CASE … END … END.
func (s *splitter) word() {
	end := s.wordEnd()
	word := strings.ToLower(s.text[s.at:end])
	escaped := word == "e" && end < len(s.text) && s.text[end] == '\''
	s.at = end
	if escaped {
		s.quoted('\'', true)
		return
	}
	switch {
	case s.atomic == 0 && s.last == "begin" && word == "atomic":
		s.atomic = 1
	case s.atomic > 0 && word == "case":
		s.atomic++
	case s.atomic > 0 && word == "end":
		s.atomic--
	case word == "rule" && (s.last == "create" && s.words == 1 || s.last == "replace" && s.words == 3):
		s.rule = true
	}
	s.words++
	s.last = word
}

// quoted reads up to the closing quote. A doubled quote stands for itself, and so does one after a backslash if escapes hold.
func (s *splitter) quoted(quote byte, escapes bool) {
	start := s.at
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\' && escapes:
			s.at++
		case c == quote && s.at+1 < len(s.text) && s.text[s.at+1] == quote:
			s.at++
		case c == quote:
			s.at++
			return
		}
	}
	kind := "string"
	if quote == '"' {
		kind = "identifier"
	}
	s.unclosed(start, "unterminated quoted "+kind)
}

// dollar reads a dollar-quoted string, or a parameter.
func (s *splitter) dollar() {
	tag := sqltext.DollarTag.FindString(s.text[s.at:])
	if tag == "" {
		s.at++
		return
	}
	body := s.text[s.at+len(tag):]
	end := strings.Index(body, tag)
	if end < 0 {
		s.unclosed(s.at, "unterminated dollar-quoted string")
		return
	}
	s.at += 2*len(tag) + end
}

// comment reads a comment, which may hold comments.
func (s *splitter) comment() {
	depth := 0
	for start := s.at; ; {
		rest := s.text[s.at:]
		switch {
		case rest == "":
			s.unclosed(start, "unterminated /* comment")
			return
		case strings.HasPrefix(rest, "/*"):
			depth++
			s.at += 2
		case strings.HasPrefix(rest, "*/"):
			depth--
			s.at += 2
		default:
			s.at++
		}
		if depth == 0 {
			return
		}
	}
}

// unclosed gives up on the statement that begins the rest of the script.
func (s *splitter) unclosed(at int, message string) {
	s.open = &sqltext.Error{Offset: at, Message: message}
	s.at, s.start = len(s.text), -1
}

func (s *splitter) lineEnd() int {
	if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		return s.at + n
	}
	return len(s.text)
}

func (s *splitter) wordEnd() int {
	end := s.at + 1
	for end < len(s.text) && isWordPart(s.text[end]) {
		end++
	}
	return end
}

func isBlank(c byte) bool { return strings.IndexByte(" \t\r\n\f\v", c) >= 0 }

func isWordPart(c byte) bool { return sqltext.IsWordStart(c) || c >= '0' && c <= '9' || c == '$' }
