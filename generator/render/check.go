package render

// CheckTask names the row of pgt_tasks for comparing the stream table with its query.
func (t StreamTable) CheckTask() string { return "stream table " + t.ID() + ": check" }

// Checked are the stream tables that background work compares with their queries.
func (p Plan) Checked() []StreamTable {
	var checked []StreamTable
	for _, t := range p.StreamTables {
		if t.Check != "" {
			checked = append(checked, t)
		}
	}
	return checked
}

// SearchPath is the one in which users' queries are read, as SQL, for SET.
func (p Plan) SearchPath() string { return p.fromSQLOrOwn()[0].SearchPath }
