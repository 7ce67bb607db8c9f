package pull

import (
	"fmt"
	"math"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// sequence is a row of sequences.sql.
type sequence struct {
	OID          int64
	Schema, Name string
	Type         string
	Start        int64
	Increment    int64
	Min, Max     int64
	Cache        int64
	Cycle        bool
	Owner        int64 // the table whose column owns it; 0: none
	OwnerColumn  string
}

// sequences writes sequences, and keeps those of identity columns for their tables.
func (w *writer) sequences(byKind map[string][]int64) error {
	all, err := rows[sequence](w.database, "sequences", byKind["sequence"])
	if err != nil {
		return err
	}
	for _, s := range all {
		w.owned[s.Owner] = append(w.owned[s.Owner], s)
		if w.graph.has("pg_class", s.Owner) {
			// The table says whose the sequence is.
			w.graph[object{"pg_class", s.Owner}].needs[object{"pg_class", s.OID}] = true
		}
		text := "create sequence " + sqltext.Qualified(s.Schema, s.Name)
		if s.Type != "bigint" {
			text += " as " + s.Type
		}
		w.put("pg_class", s.OID, item{
			rank: rankSequence, name: sortKey(s.Schema, s.Name), what: "sequence " + sqltext.Qualified(s.Schema, s.Name),
			text: strings.Join(append([]string{text}, s.options()...), " "),
		})
	}
	all, err = rows[sequence](w.database, "sequences", byKind["identity"])
	for _, s := range all {
		w.identities[column{s.Owner, s.OwnerColumn}] = s
	}
	return err
}

// options are those that a sequence does not have by default.
func (s sequence) options() []string {
	low, high := s.limits()
	first := low
	if s.Increment < 0 {
		first = high
	}
	var all []string
	say := func(otherwise bool, format string, value int64) {
		if otherwise {
			all = append(all, fmt.Sprintf(format, value))
		}
	}
	say(s.Increment != 1, "increment by %d", s.Increment)
	say(s.Min != low, "minvalue %d", s.Min)
	say(s.Max != high, "maxvalue %d", s.Max)
	say(s.Start != first || s.Min != low || s.Max != high, "start with %d", s.Start)
	say(s.Cache != 1, "cache %d", s.Cache)
	if s.Cycle {
		all = append(all, "cycle")
	}
	return all
}

// limits are the lowest and highest value of a sequence that is given none.
func (s sequence) limits() (low, high int64) {
	low, high = math.MinInt64, math.MaxInt64
	switch s.Type {
	case "smallint":
		low, high = math.MinInt16, math.MaxInt16
	case "integer":
		low, high = math.MinInt32, math.MaxInt32
	}
	if s.Increment > 0 {
		return 1, high
	}
	return low, -1
}

// identity spells the options of an identity column's sequence, with parentheses if there are any.
func (s sequence) identity(schema, table string) string {
	options := s.options()
	if s.Schema != schema || s.Name != table+"_"+s.OwnerColumn+"_seq" {
		options = append([]string{"sequence name " + sqltext.Qualified(s.Schema, s.Name)}, options...)
	}
	if len(options) == 0 {
		return ""
	}
	return " (" + strings.Join(options, " ") + ")"
}
