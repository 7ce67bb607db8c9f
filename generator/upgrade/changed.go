package upgrade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// changed is a manifest as a release after the first keeps it: by what differs from that of the release before.
type changed struct {
	Manifest
	Base     string             `json:"base"`              // its version
	Options  *map[string]string `json:"options,omitempty"` // if they differ
	Named    edits[Named]       `json:"named"`
	Objects  edits[Object]      `json:"objects"`
	Made     edits[Made]        `json:"made"`
	Checksum string             `json:"checksum"` // of all of the above, and of the file of the base
}

// edits make one list of another.
type edits[T any] struct {
	Removed []string    `json:"removed,omitempty"` // ids
	Put     []placed[T] `json:"put,omitempty"`     // what is new, differs or moved, in the order of the new list
}

// placed is an item of the new list and the id of the one before it, which the first has not.
type placed[T any] struct {
	After string `json:"after,omitempty"`
	Item  T      `json:"item"`
}

// EncodeOn is the manifest as a file beside that of the release before, which was decoded: the same bytes for the same two versions.
func (m Manifest) EncodeOn(base Manifest) string {
	c := changed{
		Manifest: m, Base: base.Version, Named: editsOf(base.Named, m.Named, Named.id), Objects: editsOf(base.Objects, m.Objects, Object.ID), Made: editsOf(base.Made, m.Made, Made.ID),
	}
	if !maps.Equal(m.Options, base.Options) {
		c.Options = &m.Options
	}
	c.Checksum = textChecksum([]byte(encoded(c)), "", base.Checksum)
	return encoded(c)
}

// decodeChanged reads a manifest that EncodeOn wrote.
func decodeChanged(text []byte, before *Manifest) (Manifest, error) {
	var c changed
	if err := decode(text, &c); err != nil {
		return Manifest{}, err
	}
	if before == nil || before.Version != c.Base {
		return Manifest{}, ErrBase{c.Base}
	}
	if c.Checksum != textChecksum(text, c.Checksum, before.Checksum) {
		return Manifest{}, errChanged
	}
	m := c.Manifest
	m.Options = before.Options
	if c.Options != nil {
		m.Options = *c.Options
	}
	m.Named, m.Objects, m.Made = c.Named.apply(before.Named, Named.id), c.Objects.apply(before.Objects, Object.ID), c.Made.apply(before.Made, Made.ID)
	m.Checksum = c.Checksum
	return m, nil
}

// ErrBase is the error that a manifest was released after another one than the one before it.
type ErrBase struct{ Version string }

func (e ErrBase) Error() string {
	return fmt.Sprintf("it holds what changed since version %s", e.Version)
}

// isChanged reports whether a file is that of a release after the first.
func isChanged(text []byte) bool {
	var head struct{ Base string }
	return json.Unmarshal(text, &head) == nil && head.Base != ""
}

func editsOf[T any](from, to []T, id func(T) string) (e edits[T]) {
	places, texts := map[string]int{}, make([]string, len(from))
	for n, item := range from {
		places[id(item)], texts[n] = n, encoded(item)
	}
	var same, at []int // places in to and from
	there := map[string]bool{}
	for n, item := range to {
		there[id(item)] = true
		if place, ok := places[id(item)]; ok && texts[place] == encoded(item) {
			same, at = append(same, n), append(at, place)
		}
	}
	for _, item := range from {
		if !there[id(item)] {
			e.Removed = append(e.Removed, id(item))
		}
	}
	stays := map[int]bool{}
	for _, n := range longestIncreasing(at) {
		stays[same[n]] = true
	}
	after := ""
	for n, item := range to {
		if !stays[n] {
			e.Put = append(e.Put, placed[T]{after, item})
		}
		after = id(item)
	}
	return e
}

func (e edits[T]) apply(from []T, id func(T) string) (to []T) {
	gone, next := map[string]bool{}, map[string]T{}
	for _, removed := range e.Removed {
		gone[removed] = true
	}
	for _, p := range e.Put {
		gone[id(p.Item)], next[p.After] = true, p.Item
	}
	follow := func(after string) {
		for item, ok := next[after]; ok; item, ok = next[after] {
			to, after = append(to, item), id(item)
		}
	}
	follow("")
	for _, item := range from {
		if !gone[id(item)] {
			to = append(to, item)
			follow(id(item))
		}
	}
	return to
}

// longestIncreasing are the places of a longest increasing part of different numbers, by patience sorting.
func longestIncreasing(numbers []int) []int {
	var tops []int // by length of the part: the place of its last number, the least there is
	before := make([]int, len(numbers))
	for n, number := range numbers {
		length, _ := slices.BinarySearchFunc(tops, number, func(top, number int) int { return numbers[top] - number })
		before[n] = -1
		if length > 0 {
			before[n] = tops[length-1]
		}
		if length == len(tops) {
			tops = append(tops, n)
		}
		tops[length] = n
	}
	var part []int
	if len(tops) > 0 {
		for n := tops[len(tops)-1]; n >= 0; n = before[n] {
			part = append(part, n)
		}
	}
	slices.Reverse(part)
	return part
}

func encoded(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err) // strings and flags only
	}
	return out.String()
}

func decode(text []byte, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(to)
}
