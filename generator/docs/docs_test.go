package docs_test

import (
	"bytes"
	"net/url"
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
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
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

// markdown is the Markdown of an extension, by what it is about: pages, and the reference of what all extensions share.
func markdown(t *testing.T, e *generator.Extension, files generator.Files) map[string]string {
	t.Helper()
	runtime, err := e.RuntimeReference()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"runtime": runtime}
	for path, text := range files {
		if page, is := strings.CutPrefix(path, "rich/docs/"); is {
			all[page] = text
		}
	}
	return all
}

// TestBothFormats reads Markdown and HTML as a browser does: they say the same, every link leads somewhere, and names come out as they are.
func TestBothFormats(t *testing.T) {
	e, files := load(t)
	inMarkdown := markdown(t, e, files)
	pages := map[string]page{htmlPage: read(t, files[htmlPage])}
	for path, text := range inMarkdown {
		pages[path] = read(t, fromMarkdown(t, text))
	}
	codes := map[bool][]string{}
	var told []string
	for path, p := range pages {
		isHTML := path == htmlPage
		for id, n := range p.ids {
			if n > 1 {
				t.Errorf("%s: %d anchors %s", path, n, id)
			}
		}
		for _, link := range p.links {
			id, local := strings.CutPrefix(link, "#")
			to, err := url.PathUnescape(strings.TrimPrefix(link, "../"))
			if local && p.ids[id] == 0 || !local && err == nil && inMarkdown[to] == "" && !strings.HasSuffix(link, "/docs/reference.md") || err != nil || isHTML && !local {
				t.Errorf("%s: %s leads nowhere", path, link)
			}
		}
		if p.tags["b"] > 0 || p.tags["script"] > map[bool]int{true: 1}[isHTML] { // the search
			t.Errorf("%s: a name became markup", path)
		}
		codes[isHTML] = append(codes[isHTML], p.codes...)
		if !isHTML {
			told = append(told, rows(p)...)
		}
	}
	for _, name := range []string{"public.odd name|x`<b>", "public.\"odd name|x`<b>\"", "day|`<b>"} {
		if !slices.Contains(codes[true], name) || !slices.Contains(codes[false], name) {
			t.Errorf("no %s", name)
		}
	}
	text, _, _ := strings.Cut(files[htmlPage], `<h2 id="roles">`) // roles, jobs and what is behind it all are in HTML alone
	for _, row := range rows(read(t, text)) {
		if !slices.Contains(told, row) {
			t.Errorf("Markdown lacks the row %s", row)
		}
	}
}

// TestReference compares the reference in docs/ with that of an extension that has all that extensions share.
func TestReference(t *testing.T) {
	specs, errs := spec.Load("testdata/shared/spec.yaml")
	if !errs.Empty() {
		t.Fatal(errs)
	}
	e, errs := generator.Generate(specs[0])
	if !errs.Empty() {
		t.Fatal(errs)
	}
	now, err := e.RuntimeReference()
	if err != nil {
		t.Fatal(err)
	}
	golden.CompareFiles(t, "../../docs", map[string]string{"reference.md": now})
	p := read(t, fromMarkdown(t, now))
	for _, link := range p.links {
		if id, local := strings.CutPrefix(link, "#"); local && p.ids[id] == 0 {
			t.Errorf("%s leads nowhere", link)
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
	_, section, _ := strings.Cut(markdown(t, e, files)["runtime"], "\n## Alerts")
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
		for path := range first {
			if again[path] != first[path] {
				t.Fatalf("%s comes in two ways", path)
			}
		}
	}
}
