package spec

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pgsluice/sluice/ivm/diag"
)

// All messages about files that are no YAML, or not one document.

var libraryPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

// yamlSyntaxError is the error of the YAML parser at the place where the text stops being YAML.
func yamlSyntaxError(file string, content []byte, err error) diag.Error {
	line := syntaxLine(content)
	text := strings.Split(string(content), "\n")[line-1]
	col := 1 + len([]rune(text)) - len([]rune(strings.TrimLeft(text, " ")))
	e := diag.Error{Pos: diag.Pos{File: file, Line: line, Col: col}, Code: "yaml-syntax"}
	e.Message = "invalid YAML: " + libraryPrefix.ReplaceAllString(err.Error(), "")
	switch {
	case strings.HasPrefix(text[min(col-1, len(text)):], "\t"):
		e.Hint = "indent with spaces; YAML does not allow tabs"
	case strings.Contains(e.Message, "mapping values are not allowed"):
		e.Hint = "put a value that contains \": \" in quotes"
	}
	return e
}

// badCharacter finds the first byte that is no UTF-8, or else the first control character that is not allowed.
func badCharacter(file, text string, allowed func(r rune) bool) (diag.Error, bool) {
	line, col := 1, 1
	for at, r := range text {
		e := diag.Error{Pos: diag.Pos{File: file, Line: line, Col: col}, Code: "bad-character"}
		_, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			e.Message, e.Hint = fmt.Sprintf("byte 0x%02x is not valid UTF-8", text[at]), "save the file in the encoding UTF-8"
			return e, true
		case unicode.IsControl(r) && !allowed(r):
			e.Message, e.Hint = fmt.Sprintf("control character U+%04X is not allowed here", r), "remove it"
			return e, true
		}
		if col++; r == '\n' {
			line, col = line+1, 1
		}
	}
	return diag.Error{}, false
}

func isYAMLControl(r rune) bool { return strings.ContainsRune("\t\n\r\u0085", r) }

func isSQLControl(r rune) bool { return r != 0 }

func emptyFile(file string) diag.Error {
	return diag.Error{Pos: diag.Pos{File: file, Line: 1, Col: 1}, Code: "empty-file", Message: "the file holds no spec",
		Hint: `"sluice init" writes a spec to start from`}
}

func secondDocument(at diag.Pos) diag.Error {
	return diag.Error{Pos: at, Code: "second-document", Message: "a second YAML document begins here",
		Hint: "a file holds one document; put the rest in a file of its own beside it"}
}

func mergeConflict(at diag.Pos) diag.Error {
	return diag.Error{Pos: at, Code: "merge-conflict", Message: "the file holds the marks of a merge conflict",
		Hint: "keep what both sides add, remove the lines that begin with <<<<<<<, ======= and >>>>>>>; out/ needs no merging: \"sluice generate\" writes it"}
}

func aliasInItself(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "yaml-syntax", Message: fmt.Sprintf("alias *%s stands inside the value of its own anchor", name),
		Hint: "a value cannot contain itself; move the alias out of it"}
}
