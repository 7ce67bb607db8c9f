package algebra

import (
	"fmt"
	"strings"
)

// Mermaid draws a tree as a Mermaid flowchart: an operator a box, rows flowing
// from the sources at the bottom to the top.
func Mermaid(n Node, c *Columns) string {
	d := drawing{printer: printer{columns: c}, numbers: map[Node]int{}}
	d.out.WriteString("flowchart BT\n")
	d.box(n)
	return d.out.String()
}

type drawing struct {
	printer
	numbers map[Node]int // of the boxes that are drawn
}

// box draws a node and what flows into it, once, and returns its number.
func (d *drawing) box(n Node) int {
	if number, drawn := d.numbers[n]; drawn {
		return number
	}
	number := len(d.numbers) + 1
	d.numbers[n] = number
	fmt.Fprintf(&d.out, "    n%d[\"%s\"]\n", number, label(d.line(n)))
	for _, in := range n.Inputs() {
		fmt.Fprintf(&d.out, "    n%d --> n%d\n", d.box(in), number)
	}
	return number
}

// label escapes what Mermaid reads in a quoted label.
func label(text string) string {
	return strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "#", "#35;").Replace(text)
}
