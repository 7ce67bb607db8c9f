package sqltext

import "strings"

// SplitName takes a name apart that stands in a string constant, as casts to regclass and the like do: parts between dots, in lower case unless they
// are in double quotes. It is false where the text is no name.
func SplitName(text string) (parts []string, ok bool) {
	rest := strings.TrimSpace(text)
	for {
		part, after, ok := namePart(rest)
		if !ok {
			return nil, false
		}
		parts = append(parts, part)
		if rest = strings.TrimLeft(after, " \t\r\n"); rest == "" {
			return parts, true
		}
		if rest, ok = strings.CutPrefix(rest, "."); !ok {
			return nil, false
		}
		rest = strings.TrimLeft(rest, " \t\r\n")
	}
}

// namePart reads one part and returns what stands behind it.
func namePart(text string) (part, rest string, ok bool) {
	if quoted, isQuoted := strings.CutPrefix(text, `"`); isQuoted {
		for at := 0; at < len(quoted); at++ {
			switch {
			case quoted[at] != '"':
			case at+1 < len(quoted) && quoted[at+1] == '"':
				at++
			default:
				return strings.ReplaceAll(quoted[:at], `""`, `"`), quoted[at+1:], at > 0
			}
		}
		return "", "", false
	}
	end := strings.IndexAny(text, ". \t\r\n\"")
	if end < 0 {
		end = len(text)
	}
	return LowerASCII(text[:end]), text[end:], end > 0
}
