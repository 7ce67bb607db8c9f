package emit

import (
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Names of the last common table expressions of statements.
const (
	DeltaName  = "delta"
	signedName = "signed"
)

// addUp adds up signed rows. few is Tables.Few.
func addUp(s apply.Storage, from, few string) CTE {
	var list, keys []string
	for i, name := range s.Stored {
		column, key := sqltext.Grouped("d", name, s.Types[i], s.Comparable[i], s.Varied[i])
		if column != "d."+sqltext.Ident(name) {
			column += " as " + sqltext.Ident(name)
		}
		list, keys = append(list, column), append(keys, key)
	}
	sum := "sum(d." + apply.Mult + ")"
	list = append(list, sum+"::bigint as "+apply.Mult)
	if s.Hashed() {
		list = append(list, HashOf(s, "d")+" as "+apply.Hash)
	}
	lines := append(clause("select", list), "from "+from+" d")
	if len(keys) > 0 {
		lines = append(lines, clause("group by", keys)...)
	}
	lines = append(lines, "having "+sum+" <> 0")
	if few == "" {
		return CTE{Name: DeltaName, Comment: "the same, added up", Keep: true, Lines: lines}
	}
	// Each source that has changes at all is planned for ten, and what the join with the widest one would make of ten counts even where that has
	// none: the planner then reads all stored rows for one row that changes. Of a range it expects half a per cent.
	return CTE{Name: DeltaName, Comment: "the same, added up; between makes the planner expect few, and find stored rows by their index", Keep: true,
		Lines: append(lines, indent+"and "+expectFew(few, "abs("+sum+")", positive64))}
}

// ForFew ends lines of conditions that always hold, by which the planner expects few rows.
const ForFew = "-- for few"

// positive64 is the range of counts.
const positive64 = "1 and 9223372036854775807"

// expectFew is a condition that holds for each number, as all are within a range, and that makes the planner expect few rows where few is not null.
func expectFew(few, number, within string) string {
	if few == ForFew {
		return number + " between " + within + " " + few
	}
	return "(" + few + " is null or " + number + " between " + within + ")"
}

// lessStored are the rows of the last relation, and the affected ones as they are stored, to be taken away.
func (w *statement) lessStored(step apply.LessStored) []string {
	lines := []string{"select *", "from " + w.last, "union all"}
	affected := w.Keep(step.Affected, nil)
	for branch := range branches(step.Keys) {
		if branch > 0 {
			lines = append(lines, "union all")
		}
		lines = append(lines, clause("select", append(prefixed("s", step.Columns), "-1 as "+apply.Mult))...)
		lines = append(lines, "from "+w.tables.Stored+" s", "join "+affected.SQL+" t on "+matches(step.Keys, branch))
	}
	return lines
}

// branches: an index finds no null by =, so that keys which may be null take two.
func branches(keys []apply.Key) int {
	for _, k := range keys {
		if k.Nullable {
			return 2
		}
	}
	return 1
}

// isNull tests that a value of a type is not there. A row of nulls, which SQL calls null as well, is there.
func isNull(typ string) string {
	if sqltext.IsBuiltin(typ) {
		return " is null"
	}
	return " is not distinct from null"
}

// matches is the condition that a stored row s is of a affected group t.
func matches(keys []apply.Key, branch int) string {
	text, branched := "", false
	for _, k := range keys {
		s, t := "s."+sqltext.Ident(k.Name), "t."+sqltext.Ident(k.Name)
		cond := s + " = " + t
		switch {
		case !k.Nullable:
		case !branched && branch == 0:
			branched = true
		case !branched:
			branched, cond = true, s+isNull(k.Type)+" and "+t+isNull(k.Type)
		default:
			cond = s + " is not distinct from " + t
		}
		if text != "" {
			text += " and "
		}
		text += cond
	}
	return text
}
