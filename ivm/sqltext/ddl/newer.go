package ddl

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// newer is what a statement says in words that came after the grammar.
type newer struct {
	notNull []NotNull
	virtual []int // offsets of GENERATED in the statement
}

// parseNewer parses a statement that the grammar refuses as if what is newer, or does not matter, were not there. All offsets stay. It
// returns nil if that is not enough.
func (r *reader) parseNewer() *pg_query.ParseResult {
	m := masker{text: []byte(r.text), original: r.text, tokens: r.scan()}
	for i := range m.tokens {
		m.tableConstraint(r, i)
		m.columnConstraint(i)
		m.constraintOption(i)
	}
	if tree, err := pg_query.Parse(string(m.text)); err == nil {
		r.newer = m.found
		return tree
	}
	if as := topLevel(m.tokens, 0, pg_query.Token_AS); as >= 0 && slices.ContainsFunc(m.tokens[:as], isView) {
		return parseOrNil(r.text[:m.tokens[as].Start] + "as select 1")
	}
	if begin := m.phrase("begin", "atomic"); begin >= 0 {
		return parseOrNil(r.text[:m.tokens[begin].Start] + "begin atomic end")
	}
	return nil
}

func isView(t *pg_query.ScanToken) bool { return t.Token == pg_query.Token_VIEW }

func parseOrNil(text string) *pg_query.ParseResult {
	tree, _ := sqltext.Parse(text)
	return tree
}

// masker replaces parts of a statement by blanks.
type masker struct {
	text     []byte
	original string
	tokens   []*pg_query.ScanToken
	found    newer
}

// is reports whether the tokens from index i on are these words.
func (m *masker) is(i int, words ...string) bool {
	if i < 0 || i+len(words) > len(m.tokens) {
		return false
	}
	for n, word := range words {
		t := m.tokens[i+n]
		if !strings.EqualFold(m.original[t.Start:t.End], word) {
			return false
		}
	}
	return true
}

// phrase returns the index at which these words stand first, or -1.
func (m *masker) phrase(words ...string) int {
	for i := range m.tokens {
		if m.is(i, words...) {
			return i
		}
	}
	return -1
}

// mask replaces tokens first to last by a text that is not longer, and blanks.
func (m *masker) mask(first, last int, by string) {
	from, to := int(m.tokens[first].Start), int(m.tokens[last].End)
	copy(m.text[from:to], by+strings.Repeat(" ", to-from-len(by)))
}

// tableConstraint masks [CONSTRAINT name] NOT NULL column, of 18, where a table's constraint can stand.
func (m *masker) tableConstraint(r *reader, i int) {
	first, name := i, ""
	if m.is(i-2, "constraint") {
		first, name = i-2, identifier(m.original, m.tokens[i-1])
	}
	if !m.is(i, "not", "null") || i+2 >= len(m.tokens) || first == 0 {
		return
	}
	before, column := m.tokens[first-1].Token, m.tokens[i+2]
	if before != openParen && before != comma && before != pg_query.Token_ADD_P {
		return
	}
	last := i + 2
	unsure := m.is(i+3, "no", "inherit") || m.is(i+3, "not", "valid")
	if m.is(i+3, "no", "inherit") {
		last = i + 4
	}
	m.mask(first, last, "check(0)")
	if !unsure {
		at := ColumnName{r.pos(int(column.Start)), identifier(m.original, column)}
		m.found.notNull = append(m.found.notNull, NotNull{name, at})
	}
}

// columnConstraint masks NOT NULL NO INHERIT, of 18, which does not hold for the tables below, and virtual generated columns.
func (m *masker) columnConstraint(i int) {
	if m.is(i, "not", "null", "no", "inherit") {
		m.mask(i, i+3, "")
	}
	if !m.is(i, "generated", "always", "as", "(") {
		return
	}
	last := closing(m.tokens, i+3)
	if m.is(last+1, "stored") {
		return
	}
	if m.is(last+1, "virtual") {
		last++
	}
	m.found.virtual = append(m.found.virtual, int(m.tokens[i].Start))
	m.mask(i, last, "")
}

// constraintOption masks what 18 adds to constraints that no reader of the table need know.
func (m *masker) constraintOption(i int) {
	switch {
	case m.is(i, "not", "enforced"), m.is(i, "without", "overlaps"):
		m.mask(i, i+1, "")
	case m.is(i, "enforced") && !m.is(i-1, "not"):
		m.mask(i, i, "")
	case m.is(i, "period") && m.is(i-1, ",") && m.is(i+2, ")") && m.phrase("foreign", "key") >= 0:
		m.mask(i, i, "")
	}
}
