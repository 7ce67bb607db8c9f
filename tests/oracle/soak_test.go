//go:build soak

package oracle_test

import (
	"os"
	"testing"
	"time"
)

// TestSoak tries seeds that nobody has tried, for as long as SLUICE_TEST_SOAK says.
func TestSoak(t *testing.T) {
	limit, err := time.ParseDuration(os.Getenv("SLUICE_TEST_SOAK"))
	if err != nil {
		t.Fatal(err)
	}
	first, end := uint64(time.Now().UnixMilli()), time.Now().Add(limit)
	t.Logf("seeds from %d", first)
	patient := hunt
	patient.Shrink = 5 * time.Minute
	stats := tryAll(t, patient, 20, func(n uint64) (uint64, bool) { return first + n, time.Now().Before(end) })
	t.Log(stats.String())
}
