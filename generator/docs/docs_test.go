package docs_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	render "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
)

// htmlPage is the page among the files that load returns.
const htmlPage = "rich.html"

// load generates the extension of testdata, which has something of everything, and names that mean something in Markdown and HTML.
func load(t *testing.T) (*generator.Extension, generator.Files) {
	t.Helper()
	specs, errs := spec.Load("testdata/spec.yaml")
	if !errs.Empty() {
		t.Fatal(errs)
	}
	e, errs := generator.Generate(specs[0])
	if !errs.Empty() {
		t.Fatal(errs)
	}
	files, err := e.Files(nil)
	if err != nil {
		t.Fatal(err)
	}
	if files[htmlPage], err = e.ReferencePage(); err != nil {
		t.Fatal(err)
	}
	return e, files
}

// page is what a reader of either format gets.
type page struct {
	ids   map[string]int
	links []string
	cells [][]string // of each row of each table
	codes []string
	tags  map[string]int
}

func read(t *testing.T, text string) page {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	p := page{ids: map[string]int{}, tags: map[string]int{}}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		p.tags[n.Data]++
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				p.ids[a.Val]++
			case a.Key == "href":
				p.links = append(p.links, a.Val)
			}
		}
		switch n.Data {
		case "code":
			p.codes = append(p.codes, content(n))
		case "tr":
			var row []string
			for c := range n.ChildNodes() {
				if c.Type == html.ElementNode {
					row = append(row, content(c))
				}
			}
			p.cells = append(p.cells, row)
		}
	}
	return p
}

func content(n *html.Node) string {
	var out strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			out.WriteString(c.Data)
		}
	}
	return out.String()
}

func fromMarkdown(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	engine := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(render.WithUnsafe()))
	if err := engine.Convert([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestBothFormats reads both formats as a browser does: they say the same, every link leads somewhere, and names come out as they are.
func TestBothFormats(t *testing.T) {
	_, files := load(t)
	pages := map[string]page{
		"Markdown": read(t, fromMarkdown(t, files["rich/docs/README.md"])),
		"HTML":     read(t, files[htmlPage]),
	}
	for format, p := range pages {
		for id, n := range p.ids {
			if n > 1 {
				t.Errorf("%s: %d anchors %s", format, n, id)
			}
		}
		for _, link := range p.links {
			if id, local := strings.CutPrefix(link, "#"); !local || p.ids[id] == 0 {
				t.Errorf("%s: %s leads nowhere", format, link)
			}
		}
		for _, name := range []string{"public.odd name|x`<b>", "public.\"odd name|x`<b>\"", "day|`<b>"} {
			if !slices.Contains(p.codes, name) {
				t.Errorf("%s: no %s", format, name)
			}
		}
		if p.tags["b"] > 0 || p.tags["script"] > map[string]int{"HTML": 1}[format] { // the search
			t.Errorf("%s: a name became markup", format)
		}
	}
	markdown, html := rows(pages["Markdown"]), rows(pages["HTML"])
	for _, row := range html {
		if !slices.Contains(markdown, row) {
			t.Errorf("Markdown lacks the row %s", row)
		}
	}
}

// rows are those of tables with more than two columns: options are no table in HTML.
func rows(p page) []string {
	var all []string
	for _, cells := range p.cells {
		for n := range cells {
			cells[n] = strings.Join(strings.Fields(cells[n]), " ")
		}
		if len(cells) > 2 {
			all = append(all, strings.Join(cells, " | "))
		}
	}
	return all
}

// TestMeanings: no column, setting or object is left without a word about it.
func TestMeanings(t *testing.T) {
	_, files := load(t)
	for _, row := range read(t, files[htmlPage]).cells {
		if len(row) == 5 && row[3] != "" && row[4] == "" || len(row) > 3 && row[len(row)-1] == "" {
			t.Errorf("no meaning: %q", row)
		}
	}
}

var (
	comment   = regexp.MustCompile(`--.*`)
	sent      = regexp.MustCompile(`jsonb_build_object\(\s*'type', '(\w+)',((?:[^()]|\([^()]*\))*)\)`)
	arguments = regexp.MustCompile(`(?:[^(),]|\([^()]*\))+`)
	listed    = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| .* \\| `([a-z_, ]+)` \\|$")
)

// TestAlerts compares the alerts with what functions send.
func TestAlerts(t *testing.T) {
	e, files := load(t)
	told := map[string]string{}
	_, section, _ := strings.Cut(files["rich/docs/README.md"], "\n## Alerts")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, match := range listed.FindAllStringSubmatch(section, -1) {
		told[match[1]] = match[2]
	}
	seen := map[string]bool{"refresh_failed": true, "auto_suspended": true, "suspended": true, "resumed": true, "refresh_completed": true} // of a variable
	for _, o := range e.Objects {
		for _, match := range sent.FindAllStringSubmatch(comment.ReplaceAllString(o.SQL, ""), -1) {
			var fields []string
			for n, argument := range arguments.FindAllString(match[2], -1) {
				if n%2 == 0 {
					fields = append(fields, strings.Trim(argument, " \n'"))
				}
			}
			seen[match[1]] = true
			if told[match[1]] != strings.Join(fields, ", ") {
				t.Errorf("%s of %s has the fields %v; told: %s", match[1], o.ID(), fields, told[match[1]])
			}
		}
	}
	for typ := range told {
		if !seen[typ] {
			t.Errorf("nothing sends %s", typ)
		}
	}
	if len(told) < len(seen) {
		t.Errorf("told: %v; sent: %v", told, seen)
	}
}

// TestSameBytes generates several times.
func TestSameBytes(t *testing.T) {
	_, first := load(t)
	for range 3 {
		_, again := load(t)
		for _, path := range []string{"rich/docs/README.md", htmlPage} {
			if again[path] != first[path] {
				t.Fatalf("%s comes in two ways", path)
			}
		}
	}
}
