package catalog

// OwnFunction reports whether PostgreSQL has functions of this name, and no DDL makes one where names without a schema are looked up.
func (c *Catalog) OwnFunction(function string) bool {
	return builtin().functions[function].Known && len(overloads(c.functions, c.path, "", function)) == 0
}

// OwnOperator is OwnFunction for operators.
func (c *Catalog) OwnOperator(operator string) bool {
	return len(builtin().operators[operator]) > 0 && len(overloads(c.operators, c.path, "", operator)) == 0
}

// OwnType is OwnFunction for types.
func (c *Catalog) OwnType(typ string) bool {
	return builtin().types[typ] && lookup(c.types, c.path, "", typ) == nil
}
