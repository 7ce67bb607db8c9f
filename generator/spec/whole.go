package spec

// Readable returns what of a spec with problems is fit to look for others in its queries: without stream tables that have no name or not one query, or
// the name of another. whole reports whether all is there that the queries may read; otherwise they may name what only the problems hide.
func (s *Spec) Readable() (rest *Spec, whole bool) {
	known := *s
	known.StreamTables = nil
	whole = !s.partial && len(s.meant) == 0 && len(s.DDL) == len(s.Schema)
	taken := map[Name]bool{}
	for _, t := range s.StreamTables {
		if t.Relation.Name == "" || t.Query.Text == "" || t.Given("query") && t.Given("query_file") {
			whole = false
		} else if !taken[t.Relation] {
			taken[t.Relation] = true
			known.StreamTables = append(known.StreamTables, t)
		}
	}
	for i := range s.Inboxes {
		whole = whole && !s.Inboxes[i].Materialize // its stream tables are made of what may be wrong
	}
	return &known, whole
}
