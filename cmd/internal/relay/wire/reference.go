package wire

import (
	"fmt"
	"net/url"
	"strings"
)

const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	reserved   = ":/?#[]@!$&'()*+,;="
)

// isReference reports whether a text is a URI-reference of RFC 3986, as the source of a CloudEvent is, and not empty.
func isReference(text string) bool {
	for i := range len(text) {
		if strings.IndexByte(unreserved+reserved, text[i]) < 0 && !isEscape(text[i:]) {
			return false
		}
	}
	_, err := url.Parse(text)
	return err == nil && text != ""
}

// reference makes a URI-reference of a text: it percent-encodes the characters that none has, and only where that is not enough those that have a meaning.
func reference(text string) string {
	if isReference(text) {
		return text
	}
	if encoded := escape(text, unreserved+reserved); isReference(encoded) {
		return encoded
	}
	encoded := escape(text, unreserved+"/")
	if rest, isHost := strings.CutPrefix(encoded, "//"); isHost {
		return "/%2F" + rest
	}
	return encoded
}

func escape(text, plain string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(plain, text[i]) >= 0 || isEscape(text[i:]) {
			b.WriteByte(text[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", text[i])
		}
	}
	return b.String()
}
