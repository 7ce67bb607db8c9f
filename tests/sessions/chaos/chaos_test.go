package chaos

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// options are the seed and how long a crowd works at least, so many seconds with long rows: SLUICE_TEST_SEED=n and SLUICE_TEST_CHAOS=1m say otherwise.
func options(seconds int) (seed uint64, long time.Duration) {
	seed, _ = strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	long, err := time.ParseDuration(os.Getenv("SLUICE_TEST_CHAOS"))
	if err != nil {
		long = time.Duration(pgtest.ShortOrLong(0, seconds)) * time.Second
	}
	return seed, long
}

// TestDifferential has writers of all isolation levels beside refreshes and ticks.
func TestDifferential(t *testing.T) {
	seed, long := options(7)
	(&Crowd{Subject: Load(t, "differential", Stated), Seed: seed, For: long, Committed: 20, Isolations: []string{ReadCommitted, RepeatableRead, Serializable}}).Run(t)
}

// TestImmediate has each statement followed by the stream tables, at each isolation level.
func TestImmediate(t *testing.T) {
	joins, subtrees, kept := Load(t, "immediate", Joins), Load(t, "immediate", Subtrees), Load(t, "immediate", Kept)
	for name, c := range map[string]struct {
		subject *Subject
		levels  []string
	}{
		"read_committed": {joins, []string{ReadCommitted}}, "repeatable_read": {joins, []string{RepeatableRead}}, "serializable": {joins, []string{Serializable}},
		"subtrees": {subtrees, []string{ReadCommitted, RepeatableRead}}, "kept": {kept, []string{ReadCommitted, RepeatableRead, Serializable}},
	} {
		t.Run(name, func(t *testing.T) {
			seed, long := options(3)
			(&Crowd{Subject: c.subject, Seed: seed, For: long, Committed: 20, Isolations: c.levels}).Run(t)
		})
	}
}

// TestFilledMeanwhile has writers go on while triggers only log, the stream tables are filled, and triggers take over.
func TestFilledMeanwhile(t *testing.T) {
	seed, long := options(5)
	(&Crowd{Subject: Load(t, "immediate", Joins), Seed: seed, For: long, Committed: 20, Refills: true, Isolations: []string{ReadCommitted, RepeatableRead}}).Run(t)
}

// TestAtCommit has each transaction followed by the stream tables when it commits, beside ticks and refreshes by hand.
func TestAtCommit(t *testing.T) {
	seed, long := options(5)
	(&Crowd{Subject: Load(t, "at_commit", Stated), Seed: seed, For: long, Committed: 20, Isolations: []string{ReadCommitted, RepeatableRead, Serializable}}).Run(t)
}

// TestFallInStep has writers go on while stream tables in mode at_commit are filled again and again.
func TestFallInStep(t *testing.T) {
	seed, long := options(5)
	(&Crowd{Subject: Load(t, "at_commit", Stated), Seed: seed, For: long, Committed: 20, Refills: true, Isolations: []string{ReadCommitted, RepeatableRead}}).Run(t)
}
