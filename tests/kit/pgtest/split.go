package pgtest

import (
	"regexp"
	"strings"
)

// Split cuts a script into statements as psql does: at semicolons outside of
// quotes, comments, parentheses and bodies that begin atomic.
func Split(sql string) []string {
	var statements []string
	start, depth, atomic := 0, 0, 0
	for i := 0; i < len(sql); {
		if n := skip(sql, i); n > 0 {
			i += n
			continue
		}
		switch c := sql[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ';' && depth <= 0 && atomic == 0:
			statements = appendStatement(statements, sql[start:i])
			start, depth = i+1, 0
		case wordStart(sql, i):
			word := strings.ToLower(wordAt.FindString(sql[i:]))
			atomic = nesting(sql[i:], word, atomic)
			i += len(word) - 1
		}
		i++
	}
	return appendStatement(statements, sql[start:])
}

func appendStatement(statements []string, text string) []string {
	if blank(text) {
		return statements
	}
	return append(statements, strings.TrimSpace(text))
}

// blank reports whether a text has nothing but space and comments.
func blank(text string) bool {
	for i := 0; i < len(text); {
		n := skip(text, i)
		if n == 0 && strings.TrimSpace(text[i:i+1]) != "" || n > 0 && !strings.HasPrefix(text[i:], "--") && text[i] != '/' {
			return false
		}
		i += max(n, 1)
	}
	return true
}

var (
	wordAt      = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9$]*`)
	dollarAt    = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z_0-9]*)?\$`)
	beginAtomic = regexp.MustCompile(`(?i)^begin\s+atomic\b`)
)

func wordStart(sql string, i int) bool {
	return wordAt.MatchString(sql[i:]) && (i == 0 || !inWord(sql[i-1]))
}

// inWord reports whether a byte may continue a name.
func inWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// nesting counts the begin atomic and case that an end closes.
func nesting(rest, word string, depth int) int {
	switch {
	case word == "begin" && beginAtomic.MatchString(rest):
		return depth + 1
	case word == "case" && depth > 0:
		return depth + 1
	case word == "end" && depth > 0:
		return depth - 1
	}
	return depth
}

// skip returns the length of the quoted text or comment at i, 0 if there is none.
func skip(sql string, i int) int {
	rest := sql[i:]
	switch {
	case strings.HasPrefix(rest, "--"):
		return lineComment(rest)
	case strings.HasPrefix(rest, "/*"):
		return blockComment(rest)
	case rest[0] == '\'':
		return quoted(rest, escapes(sql, i))
	case rest[0] == '"':
		return quoted(rest, false)
	case rest[0] == '$' && (i == 0 || !inWord(sql[i-1])):
		return dollarQuoted(rest)
	}
	return 0
}

func lineComment(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n + 1
	}
	return len(text)
}

func blockComment(text string) int {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// escapes reports whether the string that opens at i is of the form E'…'.
func escapes(sql string, i int) bool {
	return i > 0 && strings.ContainsRune("eE", rune(sql[i-1])) && (i == 1 || !inWord(sql[i-2]))
}

// quoted is the length of a text in quotes, which are doubled within it.
func quoted(text string, escapes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case escapes && text[i] == '\\', strings.HasPrefix(text[i:], text[:1]+text[:1]):
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}

func dollarQuoted(text string) int {
	tag := dollarAt.FindString(text)
	if tag == "" {
		return 0
	}
	if n := strings.Index(text[len(tag):], tag); n >= 0 {
		return n + 2*len(tag)
	}
	return len(text)
}
