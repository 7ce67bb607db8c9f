package sqltext

import (
	"reflect"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// What follows goes through parse trees by reflection, so that no field of any node can be forgotten.

// walk visits a message of the parse tree and, where visit says so, every message below it, in the order of their fields.
func walk(message any, visit func(message any) bool) {
	walkValue(reflect.ValueOf(message), visit)
}

func walkValue(v reflect.Value, visit func(message any) bool) {
	switch v.Kind() {
	case reflect.Interface:
		walkValue(v.Elem(), visit)
	case reflect.Slice:
		for i := range v.Len() {
			walkValue(v.Index(i), visit)
		}
	case reflect.Pointer:
		if v.IsNil() || !visit(v.Interface()) {
			return
		}
		for i := range v.Elem().NumField() {
			if v.Type().Elem().Field(i).IsExported() {
				walkValue(v.Elem().Field(i), visit)
			}
		}
	}
}

// mapBelow returns a copy of n in which f has replaced each node that is next below it.
func mapBelow(n *pg_query.Node, f func(*pg_query.Node) *pg_query.Node) *pg_query.Node {
	out := &pg_query.Node{}
	inner := reflect.ValueOf(n).Elem().FieldByName("Node")
	reflect.ValueOf(out).Elem().FieldByName("Node").Set(mapValue(inner, f))
	return out
}

func mapValue(v reflect.Value, f func(*pg_query.Node) *pg_query.Node) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return mapValue(v.Elem(), f)
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(mapValue(v.Index(i), f))
		}
		return out
	case reflect.Pointer:
		return mapPointer(v, f)
	default:
		return v
	}
}

func mapPointer(v reflect.Value, f func(*pg_query.Node) *pg_query.Node) reflect.Value {
	if v.IsNil() {
		return v
	}
	switch m := v.Interface().(type) {
	case *pg_query.Node:
		return reflect.ValueOf(f(m))
	case *pg_query.TypeName:
		return v // what looks like an expression in a type is a modifier
	}
	out := reflect.New(v.Type().Elem())
	for i := range v.Elem().NumField() {
		if v.Type().Elem().Field(i).IsExported() {
			out.Elem().Field(i).Set(mapValue(v.Elem().Field(i), f))
		}
	}
	return out
}

// same reports whether two parts of parse trees are equal, positions and the spelling of calls aside.
func same(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return same(a.Elem(), b.Elem())
	case reflect.Slice:
		return sameElements(a, b)
	case reflect.Struct:
		return a.Type() == b.Type() && sameFields(a, b)
	default:
		return a.Equal(b)
	}
}

func sameElements(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !same(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

func sameFields(a, b reflect.Value) bool {
	for i := range a.NumField() {
		field := a.Type().Field(i)
		if !field.IsExported() || field.Name == "Location" || field.Name == "Funcformat" {
			continue
		}
		if !same(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

// leftmost returns the smallest position in a part of a parse tree, or -1. Only WITH can stand at 0; elsewhere a 0 is a position that the
// parser left out.
func leftmost(message any) int {
	first := -1
	walk(message, func(m any) bool {
		located, ok := m.(interface{ GetLocation() int32 })
		if !ok {
			return true
		}
		at := int(located.GetLocation())
		_, with := m.(*pg_query.WithClause)
		if (at > 0 || at == 0 && with) && (first < 0 || at < first) {
			first = at
		}
		return true
	})
	return first
}
