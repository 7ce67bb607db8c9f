package cli

import (
	"strings"
	"testing"
)

func TestLastLine(t *testing.T) {
	var out strings.Builder
	line := &lastLine{out: &out, width: func() int { return 12 }}
	line.show("")
	line.log("stays")
	line.show("step 1 of 20, long")
	line.show("step 2")
	line.log("%s too", "stays")
	line.show("")
	if got, want := out.String(), "stays\n\r\x1b[Kstep 1 of 2\r\x1b[Kstep 2\r\x1b[Kstays too\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
