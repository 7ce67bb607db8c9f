package spec

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/ivm/diag"
)

// root decodes the root of a file into a struct.
func (d *decoder) root(n *yaml.Node, v reflect.Value, what string) {
	d.resolveAliases(n, map[*yaml.Node]bool{})
	d.object(n, v, what)
}

// resolveAliases puts the value of an anchor in the place of each alias. Nodes keep the position of the anchor's content.
func (d *decoder) resolveAliases(n *yaml.Node, open map[*yaml.Node]bool) {
	open[n] = true
	for i, child := range n.Content {
		switch {
		case child.Kind != yaml.AliasNode:
			d.resolveAliases(child, open)
		case open[child.Alias]:
			d.errs.Add(aliasInItself(d.pos(child), child.Value))
			n.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: child.Line, Column: child.Column}
		default:
			n.Content[i] = child.Alias
		}
	}
	delete(open, n)
}

// isExtra reports whether a key is a field of the user's own, in which anchors may stand; Sluice ignores it.
func isExtra(key *yaml.Node) bool { return strings.HasPrefix(key.Value, "x-") }

// isMerge reports whether a key is YAML's merge key.
func isMerge(key *yaml.Node) bool { return key.ShortTag() == "!!merge" }

// entries calls visit for each key of a mapping, once; a repeated key is reported. Keys that are merged into it come after its own, which win.
func (d *decoder) entries(n *yaml.Node, what string, visit func(key, value *yaml.Node)) {
	d.mergedEntries(n, what, map[string]bool{}, map[*yaml.Node]bool{}, visit)
}

func (d *decoder) mergedEntries(n *yaml.Node, what string, given map[string]bool, merged map[*yaml.Node]bool, visit func(key, value *yaml.Node)) {
	if merged[n] {
		return
	}
	merged[n] = true
	seen := map[string]diag.Pos{}
	var bases []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		first, repeated := seen[key.Value]
		seen[key.Value] = d.pos(key)
		switch {
		case repeated:
			d.errs.Add(repeatedField(d.pos(key), first, key.Value, what))
		case isMerge(key):
			bases = d.bases(value)
		case !given[key.Value]:
			given[key.Value] = true
			visit(key, value)
		}
	}
	for _, base := range bases {
		d.mergedEntries(base, what, given, merged, visit)
	}
}

// bases are the mappings that a merge key names: one, or a list of which the first wins.
func (d *decoder) bases(n *yaml.Node) []*yaml.Node {
	bases := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		bases = n.Content
	} else if isNull(n) {
		return nil
	}
	for _, base := range bases {
		if base.Kind != yaml.MappingNode {
			d.errs.Add(wrongType(d.pos(base), "<<", "a map, or a list of maps", base))
			return nil
		}
	}
	return bases
}
