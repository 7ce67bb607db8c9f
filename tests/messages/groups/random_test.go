package groups

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const spec = `
version: 1
extension: {name: events, version: 1.0.0}
outboxes:
  - {name: feed}
  - {name: keyed, ordering_key: aggregate_id}
  - {name: cut, segment_rows: 1000}
  - {name: cut_keyed, ordering_key: aggregate_id, segment_rows: 1000}
`

// seeds is how many runs there are of each outbox, manySeeds with SLUICE_TEST_LONG=1, and steps how long each is.
const (
	seeds     = 2
	manySeeds = 100
	steps     = 60
)

// TestRandomOperations does random operations on groups of an outbox without and one with an order per key, each with segments and without, and knows of
// each poll, commit and so on what it may answer. SLUICE_TEST_SEED=n repeats one run, SLUICE_TEST_SEEDS=n does as many.
func TestRandomOperations(t *testing.T) {
	from, count := uint64(1), uint64(seeds)
	if pgtest.Long() {
		count = manySeeds
	}
	if n, err := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64); err == nil {
		from, count = n, 1
	} else if n, err := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEEDS"), 10, 64); err == nil {
		count = n
	}
	extension := installed.Text(t, spec)
	for _, outbox := range []string{"feed", "keyed", "cut", "cut_keyed"} {
		t.Run(outbox, func(t *testing.T) {
			next := make(chan uint64)
			var all sync.WaitGroup
			for range min(2, int(count)) {
				db := installed.DB(t, extension)
				db.Exec(t, "create table scratch (n int)")
				w := newWorld(t, db, outbox)
				all.Go(func() {
					for seed := range next {
						if err := w.run(t, seed, steps); err != nil {
							t.Error(fmt.Errorf("%s: %w", outbox, err))
							w.reset(t)
						}
					}
				})
			}
			for n := range count {
				if t.Failed() {
					break
				}
				next <- from + n
			}
			close(next)
			all.Wait()
		})
	}
}
