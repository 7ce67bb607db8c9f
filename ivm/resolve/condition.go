package resolve

import "github.com/pgsluice/sluice/ivm/algebra"

// checkCondition refuses a condition that is no boolean. bound are its conjuncts.
func (r *resolver) checkCondition(bound []algebra.Scalar, clause string) {
	if clause == "JOIN conditions" {
		clause = "JOIN/ON"
	}
	if len(bound) > 1 {
		clause = "AND"
	}
	for _, e := range bound {
		r.checker().Boolean(e.Expr, clause)
	}
}
