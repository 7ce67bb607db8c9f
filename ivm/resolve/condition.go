package resolve

import "github.com/pgsluice/sluice/ivm/algebra"

// joinConditions is the clause of ON.
const joinConditions = "JOIN conditions"

// checkCondition refuses a condition that is no boolean. bound are its conjuncts.
func (r *resolver) checkCondition(bound []algebra.Scalar, clause string) {
	if clause == joinConditions {
		clause = "JOIN/ON"
	}
	if len(bound) > 1 {
		clause = "AND"
	}
	for _, e := range bound {
		r.checker().Boolean(e.Expr, clause)
	}
}
