package docs

import (
	"html/template"

	"github.com/pgsluice/sluice/generator/page"
	"github.com/pgsluice/sluice/templates"
)

// html is the reference as a page that needs nothing else.
func (r reference) html() (string, error) {
	text, err := templates.FS.ReadFile("docs/reference.html.tmpl")
	if err != nil {
		return "", err
	}
	return page.HTML(string(text), r)
}

// Code is the block's SQL in colours.
func (b block) Code() []page.Line { return page.Code(b.SQL, 1) }

// SVG is the block's picture.
func (b block) SVG() template.HTML {
	return template.HTML(page.Inline("Data flow", page.Panel{Picture: b.Picture}))
}
