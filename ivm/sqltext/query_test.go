package sqltext

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestParseQuery shows what becomes of queries.
//
//	parse   the query; an error with the text from its offset on
//	tables  the tables that it names
func TestParseQuery(t *testing.T) {
	for _, file := range []string{"query", "query_from", "query_errors"} {
		datadriven.RunTest(t, "testdata/"+file, func(t *testing.T, data *datadriven.TestData) string {
			q, err := ParseQuery(data.Input)
			if err != nil {
				return showError(data.Input, err)
			}
			if problem := Unprintable(q); problem != nil {
				return showError(data.Input, problem)
			}
			shown := dump(q)
			if data.Cmd == "tables" {
				shown = dump(Tables(q))
			}
			checkQueryRules(t, data.Input, q)
			return shown
		})
	}
}

func showError(text string, err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error() + "\n"
	}
	line, _, _ := strings.Cut(text[e.Offset:], "\n")
	return fmt.Sprintf("%d: %s\n%s\n", e.Offset, e.Message, line)
}

// TestCorpus parses queries like those that people write, and holds all rules against them.
func TestCorpus(t *testing.T) {
	text, err := os.ReadFile("testdata/corpus.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range queriesIn(string(text)) {
		q, err := ParseQuery(sql)
		if err != nil {
			t.Errorf("%s\n%s", sql, showError(sql, err))
			continue
		}
		checkQueryRules(t, sql, q)
	}
}

// checkQueryRules checks that the parse tree can be made from the query again, and what must hold of its expressions.
func checkQueryRules(t *testing.T, sql string, q Query) {
	t.Helper()
	got := rebuild(t, q)
	walk(got, func(m any) bool {
		if e, ok := scalar(m); ok {
			checkExprRules(t, e)
		}
		return true
	})
	want := rebuilder{t}.parse(sql)
	unsaid(want)
	unsaid(got) // the subqueries in its expressions are q's own, which therefore comes last
	if !same(reflect.ValueOf(want), reflect.ValueOf(got)) {
		t.Errorf("something is lost in\n%s", sql)
	}
}
