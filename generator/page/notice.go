package page

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/diag"
)

// noticeAt is how many characters a line of a notice has.
const noticeAt = 100

// Notice is text in the place of a picture.
func Notice(label string, lines []string) string {
	var out strings.Builder
	width := 0
	var wrapped []string
	for _, line := range lines {
		wrapped = append(wrapped, Wrap(strings.Fields(line), noticeAt)...)
	}
	for i, line := range wrapped {
		width = max(width, int(float64(diag.Width(line))*charWidth))
		fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", margin, margin+12+i*lineHeight, outside, escape(line))
	}
	return frame("img", label, width+2*margin, len(wrapped)*lineHeight+2*margin, out.String())
}
