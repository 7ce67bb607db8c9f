package sqltext

import (
	"fmt"
	"reflect"
	"strings"
)

// dump shows any value of this package, a line for each struct: its type, its position, the fields that are set.
func dump(v any) string {
	var d dumper
	d.value("", "", reflect.ValueOf(v))
	return d.String()
}

type dumper struct{ strings.Builder }

func (d *dumper) value(indent, label string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		d.value(indent, label, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			d.value(indent, label, v.Index(i))
		}
	case reflect.Struct:
		d.structure(indent, label, v)
	}
}

func (d *dumper) structure(indent, label string, v reflect.Value) {
	if e, ok := v.Interface().(Expr); ok {
		fmt.Fprintf(d, "%s%s@%d %s\n", indent, label, e.At(), e.SQL())
		return
	}
	fmt.Fprintf(d, "%s%s%s", indent, label, v.Type().Name())
	if pos := v.FieldByName("Pos"); pos.IsValid() {
		fmt.Fprintf(d, "@%d", pos.Int())
	}
	fields := fieldsOf(v)
	for _, f := range fields {
		d.inline(f)
	}
	d.WriteString("\n")
	for _, f := range fields {
		if !isInline(f.value) {
			d.value(indent+"  ", strings.ToLower(f.name)+" ", f.value)
		}
	}
}

type field struct {
	name  string
	value reflect.Value
}

// fieldsOf returns the fields that are set, those of embedded structs among them.
func fieldsOf(v reflect.Value) []field {
	var out []field
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case f.Anonymous:
			out = append(out, fieldsOf(v.Field(i))...)
		case f.Name != "Pos" && f.IsExported() && !v.Field(i).IsZero():
			out = append(out, field{f.Name, v.Field(i)})
		}
	}
	return out
}

func isInline(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Bool, reflect.String, reflect.Int:
		return true
	case reflect.Slice:
		return v.Type().Elem().Kind() == reflect.String
	}
	return v.Type() == reflect.TypeFor[Expr]() || v.Type() == reflect.TypeFor[Operator]()
}

func (d *dumper) inline(f field) {
	if !isInline(f.value) {
		return
	}
	name := strings.ToLower(f.name)
	switch value := f.value.Interface().(type) {
	case bool:
		fmt.Fprintf(d, " %s", name)
	case []string:
		if len(value) > 0 {
			fmt.Fprintf(d, " %s=%s", name, strings.Join(value, ","))
		}
	case Expr:
		fmt.Fprintf(d, " %s=[%s]", name, value.SQL())
	case Operator:
		fmt.Fprintf(d, " %s=%s", name, value.SQL())
	default:
		fmt.Fprintf(d, " %s=%v", name, value)
	}
}
