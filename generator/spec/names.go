package spec

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// MaxNameBytes is the length of PostgreSQL's longest identifier.
	MaxNameBytes = 63
	// LowestPriority is the priority of a value that a priority map does not name.
	LowestPriority = 999

	keptBytes    = 56 // of a derived name that is too long
	digestDigits = 7  // that follow them

	segmentDigits = 22 // of the longest id, and some room
)

// DerivedName shortens a name that the generator made from a user's name, if PostgreSQL would cut it off: whole characters up to
// 56 bytes, then 7 digits of the MD5 of the full name, so that two long names stay different.
func DerivedName(full string) string {
	if len(full) <= MaxNameBytes {
		return full
	}
	return withDigest(full, full)
}

// InternalSchema is the schema for what an extension keeps to itself, beside the schema of what users call and read.
func InternalSchema(schema string) string { return DerivedName(schema + "_internal") }

// withDigest keeps whole characters of a name up to 56 bytes, and puts 7 digits of the MD5 of another behind them.
func withDigest(name, of string) string {
	return cutName(name, keptBytes, of)
}

func cutName(name string, kept int, of string) string {
	end := min(kept, len(name))
	for end < len(name) && !utf8.RuneStart(name[end]) {
		end--
	}
	digest := md5.Sum([]byte(of))
	return name[:end] + hex.EncodeToString(digest[:])[:digestDigits]
}

// SegmentName shortens the name of a partitioned table so that a number of 19 digits goes behind it.
func SegmentName(table string) string {
	name := table + "_from_"
	if len(name) <= MaxNameBytes-segmentDigits {
		return name
	}
	return cutName(name, MaxNameBytes-segmentDigits-digestDigits-1, name) + "_"
}

// longestSuffix is the longest one of an outbox's own functions: _mark_key.
const longestSuffix = 9

// FunctionPrefix shortens what the names of an outbox's own functions begin with, so that each has room for its suffix.
func FunctionPrefix(name string) string {
	if len(name) <= MaxNameBytes-longestSuffix {
		return name
	}
	return cutName(name, MaxNameBytes-longestSuffix-digestDigits, name)
}

// Name is a relation's name. Both parts are verbatim, neither folded to lower case nor quoted.
type Name struct {
	Schema, Name string
}

// String prints the name as messages show it.
func (n Name) String() string {
	if n.Schema == "" {
		return n.Name
	}
	return n.Schema + "." + n.Name
}

// Text is the name as a spec reads it: a part that holds a dot or a quote is in double quotes.
func (n Name) Text() string {
	part := func(name string) string {
		if strings.ContainsAny(name, `."`) {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		return name
	}
	return part(n.Schema) + "." + part(n.Name)
}

// ParseName reads a name from a command line: as in a spec, verbatim, with its schema before a dot, and parts in double quotes where they hold dots.
func ParseName(text string) (Name, error) {
	name, problem := parseName(text)
	if problem != "" {
		return Name{}, fmt.Errorf("%q is no name: %s", text, problem)
	}
	return name, nil
}

// parseName splits a name at its dot. A part in double quotes may itself hold dots, and a doubled quote in it is one quote.
func parseName(text string) (name Name, problem string) {
	var parts []string
	for rest := text; ; {
		part, tail, ok := nextPart(rest)
		if !ok {
			return Name{}, "its quotes do not match"
		}
		parts = append(parts, part)
		if tail == "" {
			break
		}
		rest = tail[1:]
	}
	return nameOf(parts)
}

func nameOf(parts []string) (name Name, problem string) {
	for _, part := range parts {
		switch {
		case part == "":
			return Name{}, "a part of it is empty"
		case len(part) > MaxNameBytes:
			return Name{}, "a part of it is longer than 63 bytes"
		case hasControl(part):
			return Name{}, "a part of it holds a control character"
		}
	}
	switch len(parts) {
	case 1:
		return Name{Name: parts[0]}, ""
	case 2:
		return Name{parts[0], parts[1]}, ""
	default:
		return Name{}, "it has more parts than schema and name"
	}
}

// nextPart reads up to the next dot outside quotes; tail begins with that dot or is empty.
func nextPart(text string) (part, tail string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		dot := strings.IndexByte(text+".", '.')
		return text[:dot], text[dot:], !strings.Contains(text[:dot], `"`)
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '"':
		case strings.HasPrefix(text[i:], `""`):
			i++
		default:
			tail = text[i+1:]
			return strings.ReplaceAll(text[1:i], `""`, `"`), tail, tail == "" || tail[0] == '.'
		}
	}
	return "", "", false
}

// trimPlus cuts the + off a version such as 14+.
func trimPlus(text string) string { return strings.TrimSuffix(text, "+") }
