package spec

import (
	"reflect"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/ivm/diag"
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

// DefaultTiers stands for the default tiers in place of a list.
const DefaultTiers = "default"

// Tiers are the tiers of an inbox. A spec may write default in place of a list.
type Tiers []Tier

func (t *Tiers) read(d *decoder, n *yaml.Node, f field) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.list(n, reflect.ValueOf(t).Elem(), f)
		return
	}
	if n.Value != DefaultTiers {
		d.errs.Add(wrongType(d.pos(n), f.name, "default or a list of tiers", n))
		return
	}
	at := d.pos(n)
	tier := func(name string, lowest, highest int, every time.Duration) Tier {
		place := Place{At: at, fields: map[string]diag.Pos{"name": at, "min": at, "max": at, "schedule": at}}
		return Tier{Place: place, Name: name, Min: lowest, Max: highest, Schedule: Schedule{Every: Duration(every)}}
	}
	*t = Tiers{tier("critical", 1, 2, time.Second), tier("normal", 3, 6, 5*time.Second), tier("background", 7, 9, 30*time.Second)}
}
