package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestAFailingTestPrintsAtMost40Lines(t *testing.T) {
	var in strings.Builder
	say := func(action, test, text string) {
		fmt.Fprintf(&in, "{\"Action\":%q,\"Package\":\"p\",\"Test\":%q,\"Output\":%q,\"Elapsed\":1}\n", action, test, text)
	}
	say("output", "TestGood", "nothing of interest\n")
	say("pass", "TestGood", "")
	for n := range 1000 {
		say("output", "TestBad", fmt.Sprintf("line %d\n", n))
	}
	say("fail", "TestBad", "")
	say("output", "", "FAIL\n")
	say("fail", "", "")
	var out strings.Builder
	failed, err := summarize(strings.NewReader(in.String()), &out, nil)
	if err != nil || !failed {
		t.Errorf("failed: %v, error: %v", failed, err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 43 || lines[5] != "line 5" || lines[6] != "    [961 lines are left out]" || lines[39] != "line 999" ||
		lines[40] != "    alone: go test -count=1 -run '^TestBad$' p" || lines[42] != "FAIL      1.0s  p" {
		t.Errorf("%d lines:\n%s", len(lines), out.String())
	}
}

func TestPackagesThatPass(t *testing.T) {
	in := `a word of the go command
{"Action":"output","Package":"p","Output":"not run: what needs pg_cron\n"}
{"Action":"pass","Package":"p","Elapsed":2.5}
{"Action":"skip","Package":"q","Elapsed":0}
`
	var out strings.Builder
	failed, err := summarize(strings.NewReader(in), &out, nil)
	want := "a word of the go command\nok        2.5s  p\nnot run: what needs pg_cron\n"
	if err != nil || failed || out.String() != want {
		t.Errorf("failed: %v, error: %v\n%s", failed, err, out.String())
	}
}
