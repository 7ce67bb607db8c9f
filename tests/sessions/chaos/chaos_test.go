package chaos

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// options are the seed and how long a crowd works: SLUICE_TEST_SEED=n and SLUICE_TEST_CHAOS=1m say otherwise.
func options(t *testing.T, short time.Duration) (seed uint64, long time.Duration) {
	seed, _ = strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	long, err := time.ParseDuration(os.Getenv("SLUICE_TEST_CHAOS"))
	if err != nil {
		return seed, short
	}
	return seed, long
}

// TestDifferential has writers of all isolation levels beside refreshes and ticks.
func TestDifferential(t *testing.T) {
	seed, long := options(t, 7*time.Second)
	(&Crowd{Subject: Load(t, "differential", Stated), Seed: seed, For: long, Isolations: []string{ReadCommitted, RepeatableRead, Serializable}}).Run(t)
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
			seed, long := options(t, 3*time.Second)
			(&Crowd{Subject: c.subject, Seed: seed, For: long, Isolations: c.levels}).Run(t)
		})
	}
}

// TestFilledMeanwhile has writers go on while triggers only log, the stream tables are filled, and triggers take over.
func TestFilledMeanwhile(t *testing.T) {
	seed, long := options(t, 5*time.Second)
	(&Crowd{Subject: Load(t, "immediate", Joins), Seed: seed, For: long, Refills: true, Isolations: []string{ReadCommitted, RepeatableRead}}).Run(t)
}

// TestAtCommit has each transaction followed by the stream tables when it commits, beside ticks and refreshes by hand.
func TestAtCommit(t *testing.T) {
	seed, long := options(t, 5*time.Second)
	(&Crowd{Subject: Load(t, "at_commit", Stated), Seed: seed, For: long, Isolations: []string{ReadCommitted, RepeatableRead, Serializable}}).Run(t)
}

// TestFallInStep has writers go on while stream tables in mode at_commit are filled again and again.
func TestFallInStep(t *testing.T) {
	seed, long := options(t, 5*time.Second)
	(&Crowd{Subject: Load(t, "at_commit", Stated), Seed: seed, For: long, Refills: true, Isolations: []string{ReadCommitted, RepeatableRead}}).Run(t)
}
