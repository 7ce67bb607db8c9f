package isolation

import (
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestCases(t *testing.T) {
	RunDir(t, "testdata", func(t testing.TB) *pgtest.Database { return pgtest.DB(t) })
}

func TestMistakesInCases(t *testing.T) {
	const session = "-- session a --\nstep x: select 1\n"
	for text, want := range map[string]string{
		"-- sesion a --\n":                           `section "sesion a": want setup, session NAME [as ROLE], teardown, permutations or output`,
		"-- session a --\nselect 1;\n":               "session a has no line `step NAME: SQL`",
		"-- session a --\nselect 1;\nstep x: commit": `session a: "select 1;" stands before the first step`,
		session: "no permutations",
		session + "-- session b --\nstep x: commit":                    "step x is defined twice",
		session + "-- permutations --\nx y":                            "a permutation names step y, which no session has",
		session + "step y: select 2\n-- permutations --\nx # and no y": "no permutation names step y",
	} {
		if _, err := parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", strings.TrimSpace(text), err, want)
		}
	}
}
