package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// checkCondition refuses a condition that is certainly no boolean. bound are its conjuncts.
func (r *resolver) checkCondition(e sqltext.Expr, bound []algebra.Scalar, clause string) {
	if clause == "JOIN conditions" {
		clause = "JOIN/ON"
	}
	written := e.Conjuncts()
	if len(written) > 1 {
		clause = "AND"
	}
	for i := range written {
		r.checkBoolean(written[i], bound[i].Expr, clause)
	}
}

// checkBoolean checks a condition of two forms: as it is written, which has positions, and bound, which has types.
func (r *resolver) checkBoolean(written, bound sqltext.Expr, clause string) {
	if word, args := written.Logic(); word != "" {
		_, boundArgs := bound.Logic()
		for i := range args {
			r.checkBoolean(args[i], boundArgs[i], word)
		}
		return
	}
	if _, isColumn := bound.Column(); !isColumn && !bound.IsConstant() {
		return // what functions and operators return only the server knows
	}
	typ := sqltext.Unsized(r.typeOf(algebra.Scalar{Expr: bound}))
	if sqltext.IsBuiltin(typ) && typ != "boolean" && !r.castsToBoolean(typ) {
		r.errs.Add(notBoolean(r.pos(written.At()), clause, typ))
	}
}

// castsToBoolean reports whether DDL makes a type one that stands for true and false.
func (r *resolver) castsToBoolean(typ string) bool {
	return slices.ContainsFunc(r.catalog.Casts("boolean"), func(c catalog.Cast) bool { return c.Source == typ })
}
