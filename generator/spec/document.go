package spec

import (
	"os"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/ivm/diag"
)

// LoadDocument reads a YAML file that is no spec, but whose format is declared by the same struct tags, into a pointer to a struct. what names it in
// errors. In its texts expand replaces references, such as those to environment variables. Errors show no lines of the file, which may hold secrets.
// It reports whether the file holds fields at all.
func LoadDocument(file, what string, into any, expand func(text string) (string, error), errs *diag.List) bool {
	content, err := os.ReadFile(file)
	if err != nil {
		errs.Add(unreadable(diag.Pos{File: file}, file, err))
		return false
	}
	root, ok := parseYAML(file, content, errs)
	if !ok {
		return false
	}
	d := &decoder{file: file, source: string(content), errs: &diag.List{}}
	expanded := map[diag.Pos]string{}
	d.expand(root, expand, expanded)
	d.root(root, reflect.ValueOf(into).Elem(), what)
	for _, e := range d.errs.Errors() {
		if text, ok := expanded[e.Pos]; ok && e.Code != unresolvedCode { // its message may show the value
			e = diag.Error{Pos: e.Pos, Code: e.Code, Message: "the value of " + text + " does not fit here"}
		}
		errs.Add(e)
	}
	return root.Kind == yaml.MappingNode
}

// expand replaces references in all texts below a node; they stay texts. It notes where and what they were.
func (d *decoder) expand(n *yaml.Node, expand func(text string) (string, error), expanded map[diag.Pos]string) {
	for i, child := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			d.expand(child, expand, expanded)
		}
	}
	if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "$") {
		return
	}
	text, err := expand(n.Value)
	if err != nil {
		d.errs.Add(unresolved(d.pos(n), err))
		return
	}
	expanded[d.pos(n)] = n.Value
	n.Value = text
}

// Texts are texts by name.
type Texts map[string]string

func (t *Texts) read(d *decoder, n *yaml.Node, f field) {
	if n.Kind != yaml.MappingNode {
		d.errs.Add(wrongType(d.pos(n), f.name, "a map of texts", n))
		return
	}
	*t = Texts{}
	d.entries(n, f.name, func(key, value *yaml.Node) {
		if d.scalar(value, field{name: key.Value}, "a text", "!!str", "!!int", "!!float", "!!bool") {
			(*t)[key.Value] = value.Value
		}
	})
}
