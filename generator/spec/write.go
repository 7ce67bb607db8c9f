package spec

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// InboxesText is a part of a spec: inboxes with the options that are not the default. Schema is the extension's.
func InboxesText(inboxes []Inbox, schema string) (string, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, i := range inboxes {
		usual, item := NewInbox(i.Name, schema), &yaml.Node{Kind: yaml.MappingNode}
		field := func(name, value, otherwise string) {
			if value != otherwise {
				item.Content = append(item.Content, scalarNode(name), scalarNode(value))
			}
		}
		flag := func(name string, value bool) {
			if !value {
				item.Content = append(item.Content, scalarNode(name), &yaml.Node{Kind: yaml.ScalarNode, Value: "false"})
			}
		}
		item.Content = append(item.Content, scalarNode("name"), scalarNode(i.Name))
		field("schema", i.Schema, usual.Schema)
		field("table", i.Table, "")
		if columns := columnsNode(i.Columns); columns != nil {
			item.Content = append(item.Content, scalarNode("columns"), columns)
		}
		if i.MaxRetries != usual.MaxRetries {
			item.Content = append(item.Content, scalarNode("max_retries"), &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.Itoa(i.MaxRetries)})
		}
		field("schedule", i.Schedule.String(), usual.Schedule.String())
		if o := i.Ordering; o != nil {
			item.Content = append(item.Content, scalarNode("ordering"), &yaml.Node{
				Kind: yaml.MappingNode, Style: yaml.FlowStyle,
				Content: []*yaml.Node{scalarNode("aggregate"), scalarNode(o.Aggregate), scalarNode("sequence"), scalarNode(o.Sequence)},
			})
		}
		if i.Priority != nil {
			item.Content = append(item.Content, scalarNode("priority"), priorityNode(i.Priority))
		}
		flag("dead_letter", i.DeadLetter)
		flag("stats", i.Stats)
		if kept := i.Retention.Processed; kept != nil {
			item.Content = append(item.Content, scalarNode("retention"), &yaml.Node{
				Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{scalarNode("processed"), scalarNode(kept.String())},
			})
		}
		list.Content = append(list.Content, item)
	}
	if len(inboxes) == 0 {
		list.Style = yaml.FlowStyle
	}
	var text strings.Builder
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	version := &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.Itoa(FormatVersion)}
	err := encoder.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalarNode("version"), version, scalarNode("inboxes"), list}})
	return text.String(), err
}

// priorityNode is the priority with a map or tiers.
func priorityNode(p *Priority) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalarNode("column"), scalarNode(p.Column)}}
	number := func(n int) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.Itoa(n)} }
	if p.Tiers == nil {
		entries := &yaml.Node{Kind: yaml.MappingNode}
		for _, e := range p.Map {
			entries.Content = append(entries.Content, scalarNode(e.Value), number(e.Priority))
		}
		node.Content = append(node.Content, scalarNode("map"), entries)
		return node
	}
	tiers := &yaml.Node{Kind: yaml.SequenceNode}
	for _, t := range p.Tiers {
		tiers.Content = append(tiers.Content, &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{
			scalarNode("name"), scalarNode(t.Name), scalarNode("min"), number(t.Min), scalarNode("max"), number(t.Max),
			scalarNode("schedule"), scalarNode(t.Schedule.String()),
		}})
	}
	node.Content = append(node.Content, scalarNode("tiers"), tiers)
	return node
}

// columnsNode is the names of columns that are not the default; nil if all are.
func columnsNode(columns *Columns) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	if columns == nil {
		return nil
	}
	usual := DefaultColumns()
	if !columns.ID.equal(usual.ID) {
		node.Content = append(node.Content, scalarNode("id"), columns.ID.node())
	}
	given, otherwise := columns.byField()[len(columns.ID):], usual.byField()[len(usual.ID):]
	for n, column := range given {
		if column.Name != otherwise[n].Name {
			node.Content = append(node.Content, scalarNode(column.Field), scalarNode(column.Name))
		}
	}
	if len(node.Content) == 0 {
		return nil
	}
	return node
}

// node is their names: a text, or a list of several.
func (c IDColumns) node() *yaml.Node {
	if len(c) == 1 {
		return scalarNode(c[0].Value)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, name := range c.Names() {
		list.Content = append(list.Content, scalarNode(name))
	}
	return list
}

// yamlScalar is a text in YAML.
func yamlScalar(text string) (string, error) {
	out, err := yaml.Marshal(scalarNode(text))
	return strings.TrimSuffix(string(out), "\n"), err
}

// scalarNode is a text, quoted where YAML needs that.
func scalarNode(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	return node
}
