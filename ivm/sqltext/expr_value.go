package sqltext

// ValueFunction returns the name of a function that SQL writes without
// parentheses, such as current_date or session_user.
func (e Expr) ValueFunction() (string, bool) {
	f := e.node.GetSqlvalueFunction()
	return valueFunctions[f.GetOp()], f != nil
}
