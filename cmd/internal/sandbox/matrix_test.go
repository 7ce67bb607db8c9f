package sandbox

import (
	"fmt"
	"os"
	"testing"
)

// TestEveryMajorStarts needs npm and its registry for what is not installed
// here, so only `make test-matrix` asks for it.
func TestEveryMajorStarts(t *testing.T) {
	if os.Getenv("SLUICE_TEST_MATRIX") == "" {
		t.Log("only in make test-matrix")
		return
	}
	for major := oldestMajor; major <= newestMajor; major++ {
		s := start(t, Options{Version: itoa(major)})
		number := ask(t, s, "show server_version_num")
		expect(t, "version", number[:2], fmt.Sprint(major))
		t.Logf("%d: %s, from %s", major, s.Version, s.Bin)
	}
}
