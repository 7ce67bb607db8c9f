package upgrade

import (
	"maps"
	"slices"
	"strings"
)

// Change is a difference between the specs of two versions, in the words of the spec.
type Change struct {
	Action string `json:"action"`           // add, change or drop
	Of     string `json:"of,omitempty"`     // what the spec names that it concerns; empty for the whole
	Option string `json:"option,omitempty"` // the path of a field, as in a spec; empty for the whole of what the spec names
	Old    string `json:"old,omitempty"`    // empty if the field had no value
	New    string `json:"new,omitempty"`    // the same
}

// changes compares what two versions name, and their options. It is silent about what was released without options.
func changes(from, to Manifest) []Change {
	all := compareOptions("", from.Options, to.Options)
	for _, now := range to.Named {
		id := now.Kind + " " + now.Name
		if was, ok := identifiedAs(from.Named, now.identity()); ok {
			all = append(all, compareOptions(id, was.Options, now.Options)...)
		} else {
			all = append(all, Change{Action: "add", Of: id})
		}
	}
	for _, was := range from.Named {
		if _, stays := identifiedAs(to.Named, was.identity()); !stays {
			all = append(all, Change{Action: "drop", Of: was.Kind + " " + was.Name})
		}
	}
	return all
}

// compareOptions compares the options of one thing, in their order. What is added or dropped as a whole stands for all within it.
func compareOptions(of string, from, to map[string]string) []Change {
	if from == nil || to == nil {
		return nil
	}
	paths := maps.Clone(from)
	maps.Copy(paths, to)
	whole := "" // of what was added or dropped
	var all []Change
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, had := from[path]
		now, has := to[path]
		switch {
		case whole != "" && strings.HasPrefix(path, whole+"."), had == has && was == now:
			continue
		case had && has || was != "" || now != "":
			all = append(all, Change{Action: "change", Of: of, Option: path, Old: was, New: now})
		case has:
			all, whole = append(all, Change{Action: "add", Of: of, Option: path}), path
		default:
			all, whole = append(all, Change{Action: "drop", Of: of, Option: path}), path
		}
	}
	return all
}
