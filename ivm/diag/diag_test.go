package diag

import (
	"fmt"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	fields := []string{"name", "schema", "max_retries", "retention", "retry"}
	for name, want := range map[string]string{
		"nmae":          "name",
		"max_retires":   "max_retries",
		"Max_Retries":   "max_retries",
		"retentions":    "retention",
		"retrys":        "retry",
		"x":             "",
		"visualisation": "",
	} {
		if got := Nearest(name, fields); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestBlockPos(t *testing.T) {
	if got := WholeFile("q.sql", "a\r\nbc").Pos(4).String(); got != "q.sql:2:2" {
		t.Errorf("whole file: got %s", got)
	}
	b := NewBlock("f", "q: |\n  é\n  b\n", "é\nb", []int{7, 7, 9, 12, 13})
	for offset, want := range []string{"f:2:3", "f:2:3", "f:2:4", "f:3:3", "f:3:4", "f:3:4"} {
		if got := b.Pos(offset).String(); got != want {
			t.Errorf("%d: got %s, want %s", offset, got, want)
		}
	}
}

func TestListPrints(t *testing.T) {
	var l List
	l.AddSource("b.yaml", "one\n\tname: 数据 x\n")
	second := Error{Pos: Pos{"b.yaml", 2, 11}, Code: "bad", Message: "x is bad", Hint: "leave it out"}
	second.Also = []Note{{Pos{"b.yaml", 1, 1}, "one is here"}}
	l.Add(second)
	l.Add(second)
	l.Add(Error{Pos: Pos{File: "a.yaml"}, Code: "no-file", Message: "no such file"})
	want := `a.yaml: error: no such file [no-file]

b.yaml:2:11: error: x is bad [bad]
  2 | 	name: 数据 x
    | 	           ^
b.yaml:1:1: note: one is here
  1 | one
    | ^
hint: leave it out
`
	if got := l.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestListCaps(t *testing.T) {
	var l List
	for i := range Limit + 7 {
		l.Add(Error{Pos: Pos{"f", i + 1, 1}, Message: fmt.Sprint(i)})
	}
	if got := l.String(); !strings.HasSuffix(got, "\nand 7 more\n") {
		t.Errorf("got %q", got[len(got)-40:])
	}
}

func TestLongLineKeepsCaretInSight(t *testing.T) {
	var l List
	l.AddSource("f", strings.Repeat("a", 500)+"B"+strings.Repeat("c", 500))
	l.Add(Error{Pos: Pos{"f", 1, 501}})
	lines := strings.Split(l.String(), "\n")
	if caret := strings.Index(lines[2], "^"); lines[1][caret] != 'B' {
		t.Errorf("caret is not below B:\n%s", l.String())
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{"0 rows": Count(0, "row"), "1 row": Count(1, "row"), "2 indexes": Count(int64(2), "index")} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
