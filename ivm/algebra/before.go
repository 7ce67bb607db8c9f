package algebra

// Before is a source as it was before its changes: after ⊎ −Δ.
func Before(s *Source) *Union {
	cols := s.Columns()
	undone := &Negate{Input: &Changes{Of: s}}
	return &Union{Cols: cols, From: []Branch{{Input: s, Cols: cols}, {Input: undone, Cols: cols}}}
}

// IsBefore tells whether a union is a source before its changes.
func IsBefore(u *Union) bool {
	if len(u.From) != 2 {
		return false
	}
	source, ok := u.From[0].Input.(*Source)
	if !ok {
		return false
	}
	undone, ok := u.From[1].Input.(*Negate)
	if !ok {
		return false
	}
	changes, ok := undone.Input.(*Changes)
	return ok && changes.Of == source
}
