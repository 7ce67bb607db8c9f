package generator

import (
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// unknownTable is the code of the error that a query reads what there is not.
const unknownTable = "unknown-table"

// Check finds what is wrong with the queries of a spec in which something else is wrong, so that a run reports it all.
func Check(s *spec.Spec) *diag.List {
	errs := &diag.List{}
	rest, whole := s.Readable()
	compileViews(rest, errs)
	unsupported(rest, errs)
	endsQuotes(rest, errs)
	checkExpressions(rest, errs)
	if !whole {
		return errs.Without(unknownTable)
	}
	return errs
}

// CheckReading is Check where a database knows what DDL files do not.
func CheckReading(s *spec.Spec) *diag.List { return Check(s).Without(unknownTable) }
