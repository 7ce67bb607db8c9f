package objects

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/upgrade"
)

// Follow pairs each object with the object of the same spec under its first names, and notes its first name and definition.
func (all *Objects) Follow(original *Objects) error {
	mine, theirs := renamed(all.List), renamed(original.List)
	if len(mine) != len(theirs) || len(all.Made) != len(original.Made) {
		return fmt.Errorf("%d objects are %d", len(mine), len(theirs))
	}
	for n, at := range mine {
		o, first := &all.List[at], original.List[theirs[n]]
		if o.Kind != first.Kind {
			return fmt.Errorf("%s is %s", o.ID(), first.ID())
		}
		o.From(first)
	}
	for n := range all.Made {
		m, first := &all.Made[n], original.Made[n]
		m.Definition = first.Definition
		if m.ID() != first.ID() {
			m.OriginID = first.ID()
		}
	}
	return nil
}

// renamed are the places of the objects that a rename of the spec can give another name.
func renamed(objects []upgrade.Object) []int {
	var places []int
	for n, o := range objects {
		if o.Kind != "schema" {
			places = append(places, n)
		}
	}
	return places
}
