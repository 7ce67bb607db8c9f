package wire

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// EncodeHeader percent-encodes a value for a header, as CloudEvents' binding for HTTP has it: all but printable ASCII, and space, quote and percent sign.
func EncodeHeader(value string) string {
	var b strings.Builder
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// DecodeHeader is the value of a header that the same binding encoded. It also reads quoted strings, which older versions wrote, and percent signs that stand
// for themselves, which some writers leave. A value that is not UTF-8 is returned with an error.
func DecodeHeader(header string) (string, error) {
	header = unquote(header)
	decoded := make([]byte, 0, len(header))
	for i := 0; i < len(header); i++ {
		if isEscape(header[i:]) {
			decoded = append(decoded, hexDigit(header[i+1])<<4|hexDigit(header[i+2]))
			i += 2
		} else {
			decoded = append(decoded, header[i])
		}
	}
	if !utf8.Valid(decoded) {
		return string(decoded), errors.New("the value is not UTF-8")
	}
	return string(decoded), nil
}

// unquote removes the quotes of quoted strings, and the backslashes in them.
func unquote(header string) string {
	if !strings.Contains(header, `"`) {
		return header
	}
	var b strings.Builder
	isQuoted := false
	for i := 0; i < len(header); i++ {
		switch c := header[i]; {
		case c == '"':
			isQuoted = !isQuoted
		case c == '\\' && isQuoted && i+1 < len(header):
			i++
			b.WriteByte(header[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isEscape reports whether a text begins with a percent sign and two hexadecimal digits.
func isEscape(text string) bool {
	return len(text) > 2 && text[0] == '%' && isHex(text[1]) && isHex(text[2])
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

func hexDigit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}
