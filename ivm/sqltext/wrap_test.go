package sqltext_test

import (
	"strings"
	"testing"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// TestWrap has long lines of each kind of text broken, and text that no line may break in left alone.
func TestWrap(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("word ", 40))
	columns := strings.TrimSuffix(strings.Repeat("d.a_column, ", 16), ", ")
	for name, c := range map[string]struct {
		in    string
		lines int // 0: unchanged
	}{
		"short":           {"select 1", 0},
		"code":            {"    select " + columns, 2},
		"comment":         {"    -- " + words, 2},
		"sentence":        {"    -- " + words + "\n    -- " + strings.TrimSpace(words[:100]), 3},
		"sentences":       {"    -- " + words + ".\n    -- " + strings.TrimSpace(words[:100]), 3},
		"comment behind":  {"    select 1; -- " + words, 3},
		"string":          {"comment on table t is '" + words + "'", 2},
		"escaped":         {"select E'" + words + "'", 0},
		"dollar quotes":   {"select $$" + words + "$$", 0},
		"body":            {"as $function$\nbegin\n    select " + columns + ";\nend;\n$function$", 6},
		"quoted name":     {"select \"" + words + "\"", 0},
		"parameters":      {"select $1, $2 " + words, 2},
		"quote in string": {"select 'it''s " + words + "', 1", 2},
	} {
		got := sqltext.Wrap(c.in)
		lines := strings.Split(got, "\n")
		if c.lines == 0 {
			if got != c.in {
				t.Errorf("%s: changed:\n%s", name, got)
			}
			continue
		}
		if len(lines) != c.lines {
			t.Errorf("%s: %d lines, expected %d:\n%s", name, len(lines), c.lines, got)
		}
		for _, line := range lines {
			if len(line) > sqltext.LineWidth {
				t.Errorf("%s: long line %q", name, line)
			}
		}
	}
}

// TestWrapTrims has blanks left out at the ends of lines of code and of comments, and kept where they are data.
func TestWrapTrims(t *testing.T) {
	const in = "select 1,  \n    2 \n-- a comment \nfrom t where a = 'b \nc' and $x$ \n$x$ <> \"a \nb\" "
	const want = "select 1,\n    2\n-- a comment\nfrom t where a = 'b \nc' and $x$ \n$x$ <> \"a \nb\""
	if got := sqltext.Wrap(in); got != want {
		t.Errorf("%q", got)
	}
}
