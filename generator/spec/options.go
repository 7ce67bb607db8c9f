package spec

import (
	"fmt"
	"reflect"
	"strings"
)

// Options are the fields of a part of a spec by their paths, as a spec writes them: schedule is 1s, outbox.retention is 48h. Fields that were not given
// have their defaults; those without a default are left out. A map that a spec may leave out, such as outbox, has an empty value. Names are left out.
func Options(part any) map[string]string {
	o := options{}
	o.fields(reflect.Indirect(reflect.ValueOf(part)), "")
	for _, name := range []string{"name", "renamed_from", "query_file"} {
		delete(o, name)
	}
	return o
}

// Options are the fields that concern all of a spec.
func (s *Spec) Options() map[string]string {
	o := options{}
	o.value(reflect.ValueOf(s.Settings), "settings")
	o.value(reflect.ValueOf(s.Roles), "roles")
	o.text("extension.postgres", s.Extension.Postgres)
	o.text("extension.imperative", s.Extension.Imperative.String())
	return o
}

type options map[string]string

// text notes a value that is not empty.
func (o options) text(path, value string) {
	if value != "" {
		o[path] = value
	}
}

func (o options) fields(v reflect.Value, path string) {
	for _, f := range fieldsOf(v.Type()) {
		o.value(v.Field(f.index), join(path, f.name))
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (o options) value(v reflect.Value, path string) {
	switch value := v.Interface().(type) {
	case Duration, Schedule:
		o.text(path, fmt.Sprint(value))
	case Text:
		o.text(path, value.Value)
	case Query:
		o.text(path, strings.TrimSpace(value.Text))
	case PriorityMap:
		for _, entry := range value {
			o[join(path, entry.Value)] = fmt.Sprint(entry.Priority)
		}
	case Settings:
		for _, def := range SettingDefs {
			o[join(path, def.Name)] = value.Value(def.Name)
		}
	case Tiers:
		for _, tier := range value {
			o[join(path, tier.Name)] = ""
			for name, text := range Options(tier) {
				o[join(join(path, tier.Name), name)] = text
			}
		}
	default:
		o.kind(v, path)
	}
}

// kind notes values that are what their kind is.
func (o options) kind(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if _, simple := v.Interface().(*Duration); !simple && v.Elem().Kind() == reflect.Struct {
			o[path] = ""
		}
		o.value(v.Elem(), path)
	case reflect.Struct:
		o.fields(v, path)
	case reflect.Slice:
		o.text(path, listed(v))
	case reflect.String:
		o.text(path, v.String())
	case reflect.Bool, reflect.Int:
		o[path] = fmt.Sprint(v.Interface())
	}
}

// listed writes a list of names, or of lists of them.
func listed(v reflect.Value) string {
	var items []string
	for n := range v.Len() {
		switch item := v.Index(n); item.Kind() {
		case reflect.Slice:
			items = append(items, "("+listed(item)+")")
		default:
			items = append(items, item.Interface().(Text).Value)
		}
	}
	return strings.Join(items, ", ")
}
