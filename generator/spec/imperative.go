package spec

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What functions can create at run time, as a spec lists it.
const (
	ImperativeInboxes      = "inboxes"
	ImperativeOutboxes     = "outboxes"
	ImperativeStreamTables = "stream_tables"
)

const expectedImperative = "true, false, or a list of inboxes, outboxes and stream_tables"

// Imperative says what functions create and drop at run time. A list names it; true stands for inboxes, and in a spec that has stream tables for these and
// their outboxes, as the functions that keep one up to date are many.
type Imperative struct {
	All    bool
	Listed []string
}

func (i *Imperative) read(d *decoder, n *yaml.Node, f field) {
	*i = Imperative{}
	switch {
	case n.Kind != yaml.SequenceNode:
		if d.scalar(n, f, expectedImperative, "!!bool") {
			_ = n.Decode(&i.All)
		}
	case len(n.Content) == 0:
		d.errs.Add(noValue(d.pos(n), f.name, expectedImperative))
	default:
		element := field{name: f.name, rules: rules{enum: []string{ImperativeInboxes, ImperativeOutboxes, ImperativeStreamTables}}}
		for _, item := range n.Content {
			if d.scalar(item, element, "inboxes, outboxes or stream_tables", "!!str") && d.fits(item, element) {
				i.Listed = append(i.Listed, item.Value)
			}
		}
	}
}

// String writes it as a spec does; empty for false.
func (i Imperative) String() string {
	if i.All {
		return "true"
	}
	return strings.Join(i.Listed, ", ")
}

// CreatesInboxes reports whether functions create inboxes at run time.
func (s *Spec) CreatesInboxes() bool { return s.Extension.creates(ImperativeInboxes, true) }

// CreatesOutboxes reports whether functions give stream tables outboxes at run time.
func (s *Spec) CreatesOutboxes() bool {
	return s.Extension.creates(ImperativeOutboxes, len(s.StreamTables) > 0)
}

// CreatesStreamTables reports whether functions create stream tables at run time.
func (s *Spec) CreatesStreamTables() bool {
	return s.Extension.creates(ImperativeStreamTables, len(s.StreamTables) > 0)
}

func (e Extension) creates(what string, all bool) bool {
	return slices.Contains(e.Imperative.Listed, what) || e.Imperative.All && all
}
