package explain

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
)

// Boxes have a light ground of their own and what is outside of them is grey, so
// that a picture can stand on white and on dark pages.
const (
	ground  = "#f3f4f2"
	border  = "#8d939c"
	ink     = "#22262b"
	faint   = "#6a7078"
	outside = "#808489"
	fonts   = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
)

// stripes are the colours of operators at their boxes' left edges; the others are grey.
var stripes = map[string]string{
	"source": "#4a7fb5", "before": "#4a7fb5", "values": "#4a7fb5",
	"Δ":         "#c98a2b",
	"aggregate": "#5b9467", "aggregate global": "#5b9467", "distinct": "#5b9467",
	"join": "#8a6fb0",
}

const margin = 8

// panel is a picture under a title.
type panel struct {
	Title   string
	picture *picture
}

// svg puts pictures below each other.
func svg(label string, panels []panel) string {
	var out strings.Builder
	width, y := 0, margin
	for _, p := range panels {
		w, h := p.picture.size()
		width = max(width, w, int(float64(len(p.Title))*charWidth))
		if p.Title != "" {
			fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" fill=\"%s\" font-weight=\"bold\">%s</text>\n", margin, y+12, outside, escape(p.Title))
			y += 2 * lineHeight
		}
		fmt.Fprintf(&out, "<g transform=\"translate(%d %d)\">\n%s</g>\n", margin, y, p.picture.svg())
		y += h + 2*lineHeight
	}
	return frame(label, width+2*margin, y-2*lineHeight+margin, out.String())
}

// frame is an SVG document.
func frame(label string, width, height int, body string) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\" font-family=\"%s\" font-size=\"12\">\n%s</svg>\n",
		width, height, width, height, escape(label), fonts, body)
}

func (p *picture) svg() string {
	var out strings.Builder
	for _, a := range p.arrows {
		out.WriteString(p.arrow(a))
	}
	for _, b := range p.boxes {
		out.WriteString(b.svg())
	}
	return out.String()
}

// arrow is a curve that leaves a box at its top and meets the next one from below.
func (p *picture) arrow(a arrow) string {
	from, to := p.boxes[a.from], p.boxes[a.to]
	end := point{to.at.x + to.width/2, to.at.y + to.height}
	path := fmt.Sprintf("M%d %d", from.at.x+from.width/2, from.at.y)
	was := point{from.at.x + from.width/2, from.at.y}
	for i := len(a.points) - 1; i >= -1; i-- {
		next := point{end.x, end.y + 6}
		if i >= 0 {
			next = a.points[i]
		}
		middle := (was.y + next.y) / 2
		path += fmt.Sprintf("C%d %d %d %d %d %d", was.x, middle, next.x, middle, next.x, next.y)
		was = next
	}
	return fmt.Sprintf("<path d=\"%s\" fill=\"none\" stroke=\"%s\"/><path d=\"M%d %dl-4 7h8z\" fill=\"%s\"/>\n", path, outside, end.x, end.y, outside)
}

func (b *box) svg() string {
	color, ok := stripes[b.Kind]
	if !ok {
		color = border
	}
	var out strings.Builder
	fmt.Fprintf(&out, "<g><title>%s</title>", escape(strings.TrimSpace(b.head()+"\n"+b.full)))
	fmt.Fprintf(&out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\" stroke=\"%s\"/>", b.at.x, b.at.y, b.width, b.height, ground, border)
	fmt.Fprintf(&out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\" fill=\"%s\"/>\n", b.at.x, b.at.y, stripe, b.height, color)
	x, y := b.at.x+stripe+padding, b.at.y+lineHeight
	fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" fill=\"%s\"><tspan font-weight=\"bold\">%s</tspan>%s</text>\n", x, y, ink, escape(b.Kind), escape(strings.TrimPrefix(b.head(), b.Kind)))
	for _, line := range b.lines {
		y += lineHeight
		fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x, y, ink, numbers(line))
	}
	if len(b.law) > 0 {
		y += padding / 2
		fmt.Fprintf(&out, "<path d=\"M%d %dh%d\" stroke=\"%s\" stroke-opacity=\".35\"/>\n", b.at.x+stripe, y+padding/2, b.width-stripe, border)
	}
	for _, line := range b.law {
		y += lineHeight
		fmt.Fprintf(&out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", x, y, faint, escape(line))
	}
	return out.String() + "</g>\n"
}

var columnNumber = regexp.MustCompile(`#[0-9]+`)

// numbers makes the numbers of columns recede.
func numbers(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range columnNumber.FindAllStringIndex(text, -1) {
		fmt.Fprintf(&out, "%s<tspan fill=\"%s\">%s</tspan>", escape(text[end:at[0]]), faint, text[at[0]:at[1]])
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
