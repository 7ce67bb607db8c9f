package live

import "fmt"

// readIgnored finds settings that somebody gave where they are not read.
func (s *Status) readIgnored(in reader) error {
	ignored, err := collectIf[struct {
		Name  string `db:"name"`
		Given string `db:"given"`
		Whose string `db:"whose"` // where it was given
		Value string `db:"value"` // in force
	}](in, "pgt_settings", ignoredQuery)
	for _, i := range ignored {
		s.Problems = append(s.Problems, Problem{
			fmt.Sprintf("setting pg_trickle.%s = %s of %s is not in force, %s is", i.Name, i.Given, i.Whose, i.Value),
			"what decides what is deleted is read from the spec and from pgt_settings only, and any other setting must be a value that it can have"})
	}
	return err
}
