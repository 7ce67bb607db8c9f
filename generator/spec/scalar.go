package spec

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/ivm/diag"
)

// scalar reports whether n is a scalar of one of the YAML types, and complains if it is not.
func (d *decoder) scalar(n *yaml.Node, f field, expected string, tags ...string) bool {
	switch {
	case isNull(n):
		d.errs.Add(noValue(d.pos(n), f.name, expected))
	case n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.ShortTag()):
		d.errs.Add(wrongType(d.pos(n), f.name, expected, n))
	default:
		return true
	}
	return false
}

func (d *decoder) text(n *yaml.Node, v reflect.Value, f field) {
	if f.rules.enum != nil && n.Kind == yaml.ScalarNode && !isNull(n) {
		n = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: n.Value, Line: n.Line, Column: n.Column}
	}
	if d.scalar(n, f, expectedText(f.rules), "!!str") && d.fits(n, f) {
		v.SetString(n.Value)
	}
}

// fits checks a text against the rules of its field.
func (d *decoder) fits(n *yaml.Node, f field) bool {
	at, text := d.pos(n), n.Value
	before := d.errs.Len()
	switch {
	case f.rules.enum != nil && !slices.Contains(f.rules.enum, text):
		d.errs.Add(notInEnum(at, f.name, text, f.rules.enum))
	case f.rules.nonEmpty && strings.TrimSpace(text) == "":
		d.errs.Add(emptyText(at, f.name))
	case f.rules.isName && hasControl(text), strings.Contains(text, "\x00"):
		d.errs.Add(controlCharacter(at, f.name, text))
	case f.rules.isName && len(text) > MaxNameBytes:
		d.errs.Add(nameTooLong(at, f.name, text))
	}
	return d.errs.Len() == before
}

func hasControl(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }

func (d *decoder) number(n *yaml.Node, v reflect.Value, f field) {
	if !d.scalar(n, f, expectedNumber(f.rules), "!!int") {
		return
	}
	var i int
	if err := n.Decode(&i); err != nil || f.rules.excludes(i, n.Value) {
		d.errs.Add(outOfRange(d.pos(n), f.name, n.Value, f.rules))
		return
	}
	v.SetInt(int64(i))
}

func (r rules) excludes(i int, text string) bool {
	return r.min != nil && i < *r.min || r.max != nil && i > *r.max || r.enum != nil && !slices.Contains(r.enum, text)
}

func (d *decoder) truth(n *yaml.Node, v reflect.Value, f field) {
	if !d.scalar(n, f, expectedTruth, "!!bool") {
		return
	}
	var on bool
	if err := n.Decode(&on); err == nil {
		v.SetBool(on)
	}
}

// parses is a scalar that is written as text; parse returns what is wrong with the text, or "".
type parses interface {
	parse(text string) (problem string)
}

func (d *decoder) parsed(n *yaml.Node, target parses, f field, expected string, tags ...string) {
	if !d.scalar(n, f, expected, tags...) {
		return
	}
	if problem := target.parse(n.Value); problem != "" {
		d.errs.Add(badValue(d.pos(n), f.name, n.Value, problem, expected))
	}
}

func (t *Text) read(d *decoder, n *yaml.Node, f field) {
	t.At = d.pos(n)
	f.rules.nonEmpty = true
	d.text(n, reflect.ValueOf(&t.Value).Elem(), f)
}

func (q *Query) read(d *decoder, n *yaml.Node, f field) {
	q.At = d.pos(n)
	f.rules.nonEmpty = true
	if !d.scalar(n, f, "SQL", "!!str") || !d.fits(n, f) {
		return
	}
	at := scalarOffsets(d.source, n)
	text := diag.NewBlock(d.file, d.source, n.Value, at)
	if offset, is := commentOverFold(d.source, n.Value, at); is {
		d.errs.Add(foldedComment(text.Pos(offset), f.name))
		return
	}
	q.Block = text
}
