package ivm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// eval computes the expressions that the queries of the tests have.
func eval(e sqltext.Expr, b binding) value {
	if id, ok := e.Column(); ok {
		v, known := b[id]
		if !known {
			panic(fmt.Sprintf("column %d is not there", id))
		}
		return v
	}
	if call, ok := e.Call(); ok && call.Name == "hash_record_extended" {
		return hashOf(bindingRow(e, b))
	}
	f := e.Form()
	var parts []value
	for _, p := range f.Parts {
		parts = append(parts, eval(p, b))
	}
	switch f.Kind {
	case sqltext.ConstantForm:
		return constant(e, f)
	case sqltext.CastForm:
		return parts[0]
	case sqltext.RowForm: // of one column: a row is there also where that is null
		if parts[0].null {
			return value{n: -1000}
		}
		return parts[0]
	case sqltext.NullTestForm:
		return truth(parts[0].null == sqltext.Equal(e, sqltext.IsNull(f.Parts[0])))
	case sqltext.CaseForm: // what stands behind ELSE comes first
		results := parts[len(parts)-len(f.Tested):]
		for i, cond := range f.Tested {
			if eval(cond, b) == truth(true) {
				return results[i]
			}
		}
		if len(parts) > len(results) {
			return parts[0]
		}
		return null
	case sqltext.CoalesceForm:
		if f.Word == "LEAST" {
			return min2(parts[0], parts[1])
		}
		for _, p := range parts {
			if !p.null {
				return p
			}
		}
		return null
	case sqltext.TestForm:
		want, not := truth(strings.HasSuffix(f.Word, "TRUE")), strings.Contains(f.Word, "NOT")
		return truth((parts[0] == want) != not)
	case sqltext.DistinctForm:
		return truth(parts[0] == parts[1])
	case sqltext.LogicForm:
		return logic(f.Word, parts)
	case sqltext.BetweenForm:
		return logic("AND", []value{operation(">=", parts[:2]), operation("<=", []value{parts[0], parts[2]})})
	case sqltext.OperationForm:
		return operation(f.Operator.Name, parts)
	}
	panic("no meaning of " + e.SQL())
}

func min2(a, b value) value {
	if b.null || !a.null && a.n < b.n {
		return a
	}
	return b
}

func constant(e sqltext.Expr, f sqltext.Form) value {
	if e.IsNull() {
		return null
	}
	if n, err := strconv.Atoi(f.Text); err == nil {
		return value{n: n}
	}
	return truth(e.SQL() == "true")
}

func logic(word string, parts []value) value {
	switch {
	case word == "NOT" && parts[0].null:
		return null
	case word == "NOT":
		return truth(parts[0].n == 0)
	}
	decides := truth(word == "OR")
	if slices.Contains(parts, decides) {
		return decides
	}
	if slices.Contains(parts, null) {
		return null
	}
	return truth(word == "AND")
}

func operation(name string, parts []value) value {
	if slices.Contains(parts, null) {
		return null
	}
	l, r := parts[0].n, parts[1].n
	switch name {
	case "=":
		return truth(l == r)
	case "<>":
		return truth(l != r)
	case "<":
		return truth(l < r)
	case ">":
		return truth(l > r)
	case "<=":
		return truth(l <= r)
	case ">=":
		return truth(l >= r)
	case "+":
		return value{n: l + r}
	case "-":
		return value{n: l - r}
	}
	panic("no meaning of " + name)
}
