package page

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed pieces.html.tmpl
var pieces string

// HTML executes the template of a page, which may use the templates "style" and "code".
func HTML(text string, data any) (string, error) {
	parsed, err := template.New("").Parse(pieces + `{{define "pictures"}}` + dark + `{{end}}`)
	if err == nil {
		parsed, err = parsed.New("page").Parse(text)
	}
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = parsed.Execute(&out, data)
	return out.String(), err
}
