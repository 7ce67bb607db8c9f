package render

import (
	"fmt"
	"strings"
)

// FileName is a name as that of a file, in lower case everywhere: other bytes are percent-encoded.
func FileName(name string) string {
	var out strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("_.-", c) >= 0 && out.Len() > 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
