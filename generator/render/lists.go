package render

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// widest is how long the items of one line of a list may be together; widestLine leaves room for indentation only.
const widest, widestLine = 100, 122

// wrapped joins the items of a list in lines that are not too long.
func wrapped(items []string) string { return wrappedAt(items, widest, "        ") }

// wrappedAt does so with another width and indentation.
func wrappedAt(items []string, widest int, indent string) string {
	var out strings.Builder
	width := 0
	for i, item := range items {
		if i == 0 {
			width = len(item)
		} else {
			out.WriteString(",")
			if width += len(item) + 2; width > widest {
				out.WriteString("\n" + indent)
				width = len(item)
			} else {
				out.WriteString(" ")
			}
		}
		out.WriteString(item)
	}
	return out.String()
}

// texts is a list of texts as an array.
func texts(list []string) string {
	if len(list) == 0 {
		return "'{}'"
	}
	items := make([]string, len(list))
	for i, text := range list {
		items[i] = sqltext.Literal(text)
	}
	return "array[" + wrapped(items) + "]"
}

// literalOrNull is a text as SQL, null if empty.
func literalOrNull(text string) string {
	if text == "" {
		return "null"
	}
	return sqltext.Literal(text)
}
