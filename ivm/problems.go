package ivm

import (
	"errors"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// SyntaxError reports that a query cannot be parsed, where the parser stopped; pos describes where an offset in the query is.
func SyntaxError(pos func(offset int) diag.Pos, err error) diag.Error {
	at, hint := 0, ""
	var where *sqltext.Error
	if errors.As(err, &where) {
		at, hint = max(0, where.Offset), where.Hint
	}
	return diag.Error{Pos: pos(at), Code: "syntax", Message: err.Error(), Hint: hint}
}
