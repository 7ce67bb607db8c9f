package sqltext

import (
	"slices"
	"testing"
)

func TestSplitName(t *testing.T) {
	for text, want := range map[string][]string{
		"Orders": {"orders"}, ` app . "Odd ""Name""" `: {"app", `Odd "Name"`}, "my-table": {"my-table"}, "a.b.c": {"a", "b", "c"}, "user": {"user"}, "ÄB": {"Äb"},
		"": nil, `"`: nil, `"a`: nil, "a.": nil, "a b": nil, ".a": nil, `""`: nil, `a"b"`: nil,
	} {
		if got, ok := SplitName(text); !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
