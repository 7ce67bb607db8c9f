package page

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Boxes have a ground of their own and what is outside of them is grey, so that a picture can stand on white and on dark pages. The colours are those of
// light ones; they are attributes, as not all programs that show SVG know style sheets.
const (
	ground  = "#f3f4f2"
	border  = "#8d939c"
	ink     = "#22262b"
	faint   = "#6a7078"
	outside = "#808489"
	fonts   = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
)

// Colours of stripes.
const (
	Blue   = "#4a7fb5"
	Amber  = "#c98a2b"
	Green  = "#5b9467"
	Violet = "#8a6fb0"
	Rose   = "#b5616a"
	Grey   = border
)

// dark has the colours of pictures on dark systems.
const dark = `@media (prefers-color-scheme: dark) { svg .box { fill: #2a2f36; stroke: #59616b; } svg .ink { fill: #dfe2e6; } svg .dim { fill: #9aa1aa; } }`

const margin = 8

// Panel is a picture under a title.
type Panel struct {
	Title   string
	Picture *Picture
}

// SVG is a document with pictures below each other.
func SVG(label string, panels ...Panel) string {
	return strings.Replace(Inline(label, panels...), ">", "><style>"+dark+"</style>", 1)
}

// Inline is SVG for a page with the template "style", which has the colours for dark systems.
func Inline(label string, panels ...Panel) string {
	var out strings.Builder
	role, width, y := "img", 0, margin
	for _, p := range panels {
		if slices.ContainsFunc(p.Picture.Boxes, func(b *Box) bool { return b.Link != "" }) {
			role = "group" // screen readers pass over the links of an image
		}
		w, h := p.Picture.size()
		width = max(width, w, int(float64(len(p.Title))*charWidth))
		if p.Title != "" {
			fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" fill=\"%s\" font-weight=\"bold\">%s</text>\n", margin, y+12, outside, escape(p.Title))
			y += 2 * lineHeight
		}
		fmt.Fprintf(&out, "<g transform=\"translate(%d %d)\">\n%s</g>\n", margin, y, p.Picture.Body())
		y += h + 2*lineHeight
	}
	return frame(role, label, width+2*margin, y-2*lineHeight+margin, out.String())
}

// frame is an SVG document.
func frame(role, label string, width, height int, body string) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"%s\" aria-label=\"%s\" font-family=\"%s\" font-size=\"12\">\n%s</svg>\n",
		width, height, width, height, role, escape(label), fonts, body)
}

// Body is the picture without the document around it.
func (p *Picture) Body() string {
	var out strings.Builder
	for _, a := range p.Arrows {
		out.WriteString(p.arrow(a))
	}
	for _, b := range p.Boxes {
		out.WriteString(b.svg())
	}
	return out.String()
}

// arrow is a curve that leaves a box at its top or right edge and meets the next one from the other side.
func (p *Picture) arrow(a Arrow) string {
	from, to := p.Boxes[a.From], p.Boxes[a.To]
	was, end := point{from.at.x + from.width/2, from.at.y}, point{to.at.x + to.width/2, to.at.y + to.height + 6}
	head := fmt.Sprintf("M%d %dl-4 7h8z", end.x, end.y-6)
	if p.Sideways {
		was, end = point{from.at.x + from.width, from.at.y + from.height/2}, point{to.at.x - 6, to.at.y + to.height/2}
		head = fmt.Sprintf("M%d %dl-7 -4v8z", end.x+6, end.y)
	}
	path := fmt.Sprintf("M%d %d", was.x, was.y)
	for _, next := range append(slices.Clone(a.points), end) {
		path += p.curve(was, next)
		was = next
	}
	return fmt.Sprintf("<path d=\"%s\" fill=\"none\" stroke=\"%s\"/><path d=\"%s\" fill=\"%s\"/>\n", path, outside, head, outside)
}

// curve leads from one point to the next, and sets off and arrives in the direction of the layers.
func (p *Picture) curve(was, next point) string {
	if p.Sideways {
		middle := (was.x + next.x) / 2
		return fmt.Sprintf("C%d %d %d %d %d %d", middle, was.y, middle, next.y, next.x, next.y)
	}
	middle := (was.y + next.y) / 2
	return fmt.Sprintf("C%d %d %d %d %d %d", was.x, middle, next.x, middle, next.x, next.y)
}

func (b *Box) svg() string {
	color := cmp.Or(b.Color, border)
	var out strings.Builder
	fmt.Fprintf(&out, "<g><title>%s</title>", escape(strings.TrimSpace(b.head()+"\n"+b.Full)))
	fmt.Fprintf(&out, "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\" stroke=\"%s\"/>", b.at.x, b.at.y, b.width, b.height, ground, border)
	fmt.Fprintf(&out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\" fill=\"%s\"/>\n", b.at.x, b.at.y, stripe, b.height, color)
	x, y := b.at.x+stripe+padding, b.at.y+lineHeight
	fmt.Fprintf(&out, "<text class=\"ink\" x=\"%d\" y=\"%d\" fill=\"%s\"><tspan font-weight=\"bold\">%s</tspan>%s</text>\n", x, y, ink, escape(b.Kind), escape(strings.TrimPrefix(b.head(), b.Kind)))
	for _, line := range b.Lines {
		y += lineHeight
		fmt.Fprintf(&out, "<text class=\"ink\" x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x, y, ink, numbers(line))
	}
	if len(b.Notes) > 0 {
		y += padding / 2
		fmt.Fprintf(&out, "<path d=\"M%d %dh%d\" stroke=\"%s\" stroke-opacity=\".35\"/>\n", b.at.x+stripe, y+padding/2, b.width-stripe, border)
	}
	for _, line := range b.Notes {
		y += lineHeight
		fmt.Fprintf(&out, "<text class=\"dim\" x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x, y, faint, escape(line))
	}
	out.WriteString("</g>\n")
	if b.Link != "" {
		return fmt.Sprintf("<a href=\"%s\">%s</a>\n", escape(b.Link), out.String())
	}
	return out.String()
}

// ColumnNumber is how texts number the columns of a tree.
var ColumnNumber = regexp.MustCompile(`#[0-9]+`)

// numbers makes the numbers of columns recede.
func numbers(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range ColumnNumber.FindAllStringIndex(text, -1) {
		fmt.Fprintf(&out, "%s<tspan class=\"dim\" fill=\"%s\">%s</tspan>", escape(text[end:at[0]]), faint, text[at[0]:at[1]])
		end = at[1]
	}
	return out.String() + escape(text[end:])
}

// escape writes text for XML, where some characters have no place.
func escape(text string) string {
	var out strings.Builder
	if err := xml.EscapeText(&out, []byte(text)); err != nil {
		panic(err) // a strings.Builder takes everything
	}
	return out.String()
}
