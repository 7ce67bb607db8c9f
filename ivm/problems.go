package ivm

import (
	"errors"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

func syntaxError(pos func(int) diag.Pos, err error) diag.Error {
	at := 0
	var where *sqltext.Error
	if errors.As(err, &where) {
		at = max(0, where.Offset)
	}
	return diag.Error{Pos: pos(at), Code: "syntax", Message: err.Error()}
}
