package upgrade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
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

// placed is an item of the new list and the id of the one before it, which the first has not. If the old list has an item of the same id, it is kept by
// the lines that differ.
type placed[T any] struct {
	After string `json:"after,omitempty"`
	Item  *T     `json:"item,omitempty"`
	ID    string `json:"id,omitempty"`    // of the old item
	Lines []cut  `json:"lines,omitempty"` // that are replaced in its text, in their order
}

// cut replaces lines of a text.
type cut struct {
	At     int      `json:"at"`            // the first line that goes, counted from 0, or the one before which lines come
	Remove int      `json:"cut,omitempty"` // how many go
	Put    []string `json:"put,omitempty"` // what comes
}

// linesOf is an item as JSON, cut into lines where its texts have lines, and before each field: put together they are the JSON again.
func linesOf(item any) []string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(encoded(item))); err != nil {
		panic(err) // it was encoded
	}
	text := strings.ReplaceAll(compact.String(), `\n`, "\\n\n")
	return strings.Split(strings.ReplaceAll(text, `,"`, ",\n\""), "\n")
}

// cutsBetween lead from one text to another.
func cutsBetween(from, to []string) (cuts []cut) {
	for _, code := range difflib.NewMatcher(from, to).GetOpCodes() {
		if code.Tag != 'e' {
			cuts = append(cuts, cut{code.I1, code.I2 - code.I1, to[code.J1:code.J2]})
		}
	}
	return cuts
}

// cutInto is the item that an item becomes by cuts.
func cutInto[T any](item T, cuts []cut) (to T, err error) {
	from := linesOf(item)
	var text strings.Builder
	at := 0
	for _, c := range cuts {
		if c.At < at || c.At+c.Remove > len(from) {
			return to, errChanged
		}
		text.WriteString(strings.Join(from[at:c.At], "") + strings.Join(c.Put, ""))
		at = c.At + c.Remove
	}
	text.WriteString(strings.Join(from[at:], ""))
	return to, decode([]byte(text.String()), &to)
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
	var errs [3]error
	m.Named, errs[0] = c.Named.apply(before.Named, Named.id)
	m.Objects, errs[1] = c.Objects.apply(before.Objects, Object.ID)
	m.Made, errs[2] = c.Made.apply(before.Made, Made.ID)
	m.Checksum = c.Checksum
	return m, errors.Join(errs[:]...)
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
		if place, was := places[id(item)]; was && !stays[n] {
			e.Put = append(e.Put, placed[T]{After: after, ID: id(item), Lines: cutsBetween(linesOf(from[place]), linesOf(item))})
		} else if !stays[n] {
			e.Put = append(e.Put, placed[T]{After: after, Item: &item})
		}
		after = id(item)
	}
	return e
}

func (e edits[T]) apply(from []T, id func(T) string) (to []T, err error) {
	gone, next, old := map[string]bool{}, map[string]T{}, map[string]T{}
	for _, removed := range e.Removed {
		gone[removed] = true
	}
	for _, item := range from {
		old[id(item)] = item
	}
	for _, p := range e.Put {
		if p.Item == nil {
			item, err := cutInto(old[p.ID], p.Lines)
			if err != nil {
				return nil, err
			}
			p.Item = &item
		}
		gone[id(*p.Item)], next[p.After] = true, *p.Item
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
	return to, nil
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

// lineWidth is how long a line of a manifest may be that holds a whole object or list.
const lineWidth = 140

// encoded is a value as JSON, with what fits into a line on one.
func encoded(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err) // strings and flags only
	}
	var lines []string // texts have no line ends in JSON
	var open []int     // the lines that begin what is not closed yet
	for line := range strings.Lines(out.String()) {
		line = strings.TrimRight(line, "\n")
		lines = append(lines, line)
		if strings.HasSuffix(line, "{") || strings.HasSuffix(line, "[") {
			open = append(open, len(lines)-1)
		} else if first := strings.TrimLeft(line, " "); len(open) > 1 && (first[0] == '}' || first[0] == ']') {
			begin := open[len(open)-1]
			open = open[:len(open)-1]
			if short := onOneLine(lines[begin:]); len(short) <= lineWidth {
				lines = append(lines[:begin], short)
			}
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// onOneLine joins the lines of an object or a list.
func onOneLine(lines []string) string {
	var out strings.Builder
	for n, line := range lines {
		if n > 0 {
			line = strings.TrimLeft(line, " ")
			if n > 1 && n < len(lines)-1 {
				out.WriteByte(' ')
			}
		}
		out.WriteString(line)
	}
	return out.String()
}

func decode(text []byte, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(to)
}
