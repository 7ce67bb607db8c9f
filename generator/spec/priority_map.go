package spec

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// PriorityEntry gives a priority to one value of the priority column.
type PriorityEntry struct {
	Place
	Value    string
	Priority int
}

// PriorityMap lists priorities by value, in file order.
type PriorityMap []PriorityEntry

func (m *PriorityMap) read(d *decoder, n *yaml.Node, f field) {
	if n.Kind != yaml.MappingNode {
		d.errs.Add(wrongType(d.pos(n), f.name, "a map from value to priority", n))
		return
	}
	lowest, highest := 0, LowestPriority
	bounds := field{rules: rules{min: &lowest, max: &highest}}
	*m = PriorityMap{}
	d.entries(n, f.name, func(key, value *yaml.Node) {
		entry := PriorityEntry{Place: Place{At: d.pos(key)}, Value: key.Value}
		bounds.name = key.Value
		d.value(value, reflect.ValueOf(&entry.Priority).Elem(), bounds)
		*m = append(*m, entry)
	})
}
