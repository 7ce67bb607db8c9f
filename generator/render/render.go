// Package render turns view models into SQL: it owns the templates' data types and their execution, and knows no spec.
package render

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/templates"
)

// all holds every parsed template by its path below templates/. A template that does not parse is a bug.
var all = sync.OnceValue(parse)

func parse() *template.Template {
	root := template.New("").Funcs(funcs()).Option("missingkey=error")
	walk(func(path, text string) {
		if strings.HasPrefix(path, "docs/") {
			return // package docs has those
		}
		t := root.New(path)
		if strings.HasPrefix(path, "dbt/") || strings.HasPrefix(path, "ops/") && !strings.HasSuffix(path, ".sql.tmpl") {
			t.Delims("<<", ">>") // braces are Jinja's there, or of Prometheus
		}
		template.Must(t.Parse(text))
	})
	return root
}

// IsShared reports whether a template makes an object of this name, for all extensions that have its module.
func IsShared(name string) bool {
	return slices.ContainsFunc(all().Templates(), func(t *template.Template) bool { return strings.HasSuffix(t.Name(), "/"+name+".sql.tmpl") })
}

// Execute renders one template, named by its path below templates/ without .tmpl. Text ends in exactly one newline, and no line of SQL is too long.
func Execute(path string, data any) (string, error) {
	var out bytes.Buffer
	if err := all().ExecuteTemplate(&out, path+".tmpl", data); err != nil {
		return "", err
	}
	text := strings.TrimSpace(out.String()) + "\n"
	if strings.HasSuffix(path, ".sql") && !strings.HasPrefix(path, "dbt/") {
		text = sqltext.Wrap(text)
	}
	return text, nil
}

// piece renders a part of a template.
func piece(name string, data any) string {
	var out bytes.Buffer
	if err := all().ExecuteTemplate(&out, name, data); err != nil {
		panic(fmt.Sprintf("template %s: %v", name, err))
	}
	return out.String()
}

// Must is Execute of a template that cannot fail: one that does is a bug.
func Must(path string, data any) string {
	text, err := Execute(path, data)
	if err != nil {
		panic(fmt.Sprintf("template %s: %v", path, err))
	}
	return text
}

func walk(visit func(path, text string)) {
	for _, pattern := range []string{"*.tmpl", "*/*.tmpl"} {
		for _, path := range glob(pattern) {
			text, err := templates.FS.ReadFile(path)
			if err != nil {
				panic(err)
			}
			visit(path, string(text))
		}
	}
}

// Name is a relation or function of a schema.
type Name struct{ Schema, Name string }

// String returns the name as SQL, qualified and quoted where needed.
func (n Name) String() string { return sqltext.Qualified(n.Schema, n.Name) }

// Plain returns the name as people write it and the catalog keeps it: with its schema, and quoted only where a dot would split it wrongly.
func (n Name) Plain() string { return sqltext.Dotted(n.Schema, n.Name) }

// Regclass returns a constant that names the relation, resolved when the statement is planned.
func (n Name) Regclass() string { return sqltext.Literal(n.String()) + "::regclass" }

func glob(pattern string) []string {
	paths, err := fs.Glob(templates.FS, pattern)
	if err != nil {
		panic(err)
	}
	return paths
}
