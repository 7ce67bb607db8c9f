package spec

import (
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// IDColumns are the columns that identify a message in a table of the user's: one, or several, whose texts together are the id. A spec may write one name
// in place of a list.
type IDColumns []Text

// Names lists them.
func (c IDColumns) Names() []string {
	var names []string
	for _, column := range c {
		names = append(names, column.Value)
	}
	return names
}

func (c *IDColumns) read(d *decoder, n *yaml.Node, f field) {
	if n.Kind != yaml.SequenceNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line, Column: n.Column}
	}
	*c = nil // after an error nobody looks for the default
	if len(n.Content) == 0 {
		d.errs.Add(emptyID(d.pos(n), f.name))
		return
	}
	columns := IDColumns{}
	for _, item := range n.Content {
		column := Text{At: d.pos(item)}
		before := d.errs.Len()
		d.value(item, reflect.ValueOf(&column).Elem(), f)
		if d.errs.Len() > before {
			return
		}
		columns = append(columns, column)
	}
	*c = columns
}

// parse takes the default.
func (c *IDColumns) parse(text string) string {
	*c = IDColumns{{Value: text}}
	return ""
}

// equal reports whether both name the same columns.
func (c IDColumns) equal(other IDColumns) bool { return slices.Equal(c.Names(), other.Names()) }
