package spec

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/ivm/diag"
)

// decoder turns the YAML nodes of one file into structs and reports everything that does not fit.
// A field that cannot be read keeps its default, so that later checks do not complain about it a second time.
type decoder struct {
	file   string
	source string
	errs   *diag.List
}

// reads is a value with its own YAML form.
type reads interface {
	read(d *decoder, n *yaml.Node, f field)
}

func (d *decoder) pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: d.file, Line: n.Line, Col: n.Column}
}

func (d *decoder) value(n *yaml.Node, v reflect.Value, f field) {
	if own, ok := v.Addr().Interface().(reads); ok {
		own.read(d, n, f)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		d.optional(n, v, f)
	case reflect.Struct:
		d.object(n, v, f.name)
	case reflect.Slice:
		d.list(n, v, f)
	case reflect.String:
		d.text(n, v, f)
	case reflect.Int:
		d.number(n, v, f)
	case reflect.Bool:
		d.truth(n, v, f)
	}
}

// optional allocates what a pointer stands for; a switch takes true and false for all defaults and nothing.
func (d *decoder) optional(n *yaml.Node, v reflect.Value, f field) {
	target := reflect.New(v.Type().Elem())
	if f.isSwitch && n.Kind == yaml.ScalarNode {
		if !d.switchedOn(n, f) {
			return
		}
		n = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column}
	}
	before := d.errs.Len()
	d.value(n, target.Elem(), f)
	isObject := n.Kind == yaml.MappingNode && !isScalar(target.Elem())
	if isObject || d.errs.Len() == before {
		v.Set(target)
	}
}

func (d *decoder) switchedOn(n *yaml.Node, f field) (on bool) {
	if d.scalar(n, f, "true or a map of options", "!!bool") {
		_ = n.Decode(&on)
	}
	return on
}

// object decodes a map of fields into a struct; an empty value is a map without any.
func (d *decoder) object(n *yaml.Node, v reflect.Value, what string) {
	fields := fieldsOf(v.Type())
	place := Place{At: d.pos(n), fields: map[string]diag.Pos{}, meant: map[string]bool{}}
	setDefaults(v)
	switch {
	case n.Kind == yaml.MappingNode:
		d.members(n, v, what, place)
	case !isNull(n):
		d.errs.Add(noObject(place.At, what, n, fieldNames(fields)))
		return
	}
	setPlace(v, place)
	for _, f := range fields {
		d.absent(v.Field(f.index), f, what, place)
	}
}

// absent treats a field of an object that may not have been given.
func (d *decoder) absent(v reflect.Value, f field, what string, place Place) {
	switch {
	case place.Given(f.name), place.meant[f.name]:
	case f.rules.required:
		d.errs.Add(missingField(place.At, f.name, what))
	case v.Kind() == reflect.Struct && !isScalar(v):
		setPlace(v, Place{At: place.At})
	}
}

func setPlace(v reflect.Value, place Place) {
	v.FieldByName("Place").Set(reflect.ValueOf(place))
}

// members decodes the fields of a map and notes in place where each stands.
func (d *decoder) members(n *yaml.Node, v reflect.Value, what string, place Place) {
	fields := fieldsOf(v.Type())
	d.entries(n, what, func(key, value *yaml.Node) {
		if isExtra(key) {
			return
		}
		f, ok := findField(fields, key.Value)
		if !ok {
			d.errs.Add(unknownField(d.pos(key), key.Value, what, fieldNames(fields)))
			place.meant[diag.Nearest(key.Value, fieldNames(fields))] = true
			return
		}
		place.fields[f.name] = d.pos(value)
		d.value(value, v.Field(f.index), f)
	})
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, f field) {
	if n.Kind != yaml.SequenceNode {
		if !isNull(n) {
			d.errs.Add(noList(d.pos(n), f.name, n, f.inList || v.Type().Elem().Kind() == reflect.Slice))
			return
		}
	}
	if f.inList && len(n.Content) == 0 {
		d.errs.Add(emptyInList(d.pos(n), f.name))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, len(n.Content)))
	element := field{name: singular(f.name), rules: f.rules, inList: true}
	for _, item := range n.Content {
		target := reflect.New(v.Type().Elem()).Elem()
		d.value(item, target, element)
		v.Set(reflect.Append(v, target))
	}
}

// singular turns the name of a list into the word for one of its elements.
func singular(name string) string {
	name = strings.ReplaceAll(name, "_", " ")
	if stem, ok := strings.CutSuffix(name, "xes"); ok {
		return stem + "x"
	}
	return strings.TrimSuffix(name, "s")
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}
