//go:build soak

package oracle_test

import (
	"os"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// TestSoak tries seeds that nobody has tried, for as long as SLUICE_TEST_SOAK says. Each has ten stream tables, in one of the modes, and 200 steps: what goes wrong in
// a state may show only many changes later.
func TestSoak(t *testing.T) {
	limit, err := time.ParseDuration(os.Getenv("SLUICE_TEST_SOAK"))
	if err != nil {
		t.Fatal(err)
	}
	first, end := number(t, "SLUICE_TEST_SEED", uint64(time.Now().UnixMilli())), time.Now().Add(limit)
	t.Logf("seeds from %d", first)
	h := hunt
	h.Shrink, h.OneMode, h.Options = 5*time.Minute, true, cases.Options{Views: 10, Steps: 200}
	h.Again = "SLUICE_TEST_SOAK=1s SLUICE_TEST_SEED=%d go test -tags soak -count=1 -timeout 0 -run TestSoak ./tests/views/oracle"
	stats := tryAll(t, h, 20, func(n uint64) (uint64, bool) { return first + n, n == 0 || time.Now().Before(end) })
	t.Log(stats.String())
}
