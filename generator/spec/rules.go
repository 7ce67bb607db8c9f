package spec

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// field is one field of an object of the format, as its struct tags declare it.
type field struct {
	name     string
	index    int
	rules    rules
	inList   bool // an item of a list
	isSwitch bool // true and false stand for an object with its defaults, and none
}

// rules are what a `jsonschema` tag asks of a value.
type rules struct {
	required     bool
	nonEmpty     bool
	isName       bool // at most 63 bytes, as every identifier of PostgreSQL
	enum         []string
	min, max     *int
	defaultValue string
}

var fieldCache sync.Map // reflect.Type to []field

// fieldsOf lists the fields of a struct type that the format knows.
func fieldsOf(t reflect.Type) []field {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		if name := f.Tag.Get("yaml"); name != "-" {
			isSwitch := f.Tag.Get("spec") == "switch"
			fields = append(fields, field{name: name, index: i, rules: parseRules(f.Tag.Get("jsonschema")), isSwitch: isSwitch})
		}
	}
	fieldCache.Store(t, fields)
	return fields
}

func parseRules(tag string) (r rules) {
	for _, rule := range strings.Split(tag, ",") {
		switch key, value, _ := strings.Cut(rule, "="); key {
		case "required":
			r.required = true
		case "minLength":
			r.nonEmpty = true
		case "maxLength":
			r.isName = true
		case "enum":
			r.enum = append(r.enum, value)
		case "minimum":
			r.min = number(value)
		case "maximum":
			r.max = number(value)
		case "default":
			r.defaultValue = value
		}
	}
	return r
}

func number(text string) *int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("number in struct tag: " + err.Error())
	}
	return &n
}

func fieldNames(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

func findField(fields []field, name string) (field, bool) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

// setDefaults gives every field of an object, and of the objects in it, the default that its tag declares.
func setDefaults(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		target := v.Field(f.index)
		switch text := f.rules.defaultValue; {
		case text != "":
			setDefault(target, text)
		case target.Kind() == reflect.Struct && !isScalar(target):
			setDefaults(target)
		}
	}
}

func setDefault(target reflect.Value, text string) {
	switch target.Kind() {
	case reflect.String:
		target.SetString(text)
	case reflect.Int:
		target.SetInt(int64(*number(text)))
	case reflect.Bool:
		target.SetBool(text == "true")
	default:
		if message := target.Addr().Interface().(parses).parse(text); message != "" {
			panic("default in struct tag: " + message)
		}
	}
}

// isScalar reports whether a value is a struct in Go but a scalar in YAML.
func isScalar(v reflect.Value) bool {
	_, ok := v.Addr().Interface().(reads)
	return ok
}
