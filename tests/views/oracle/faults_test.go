package oracle_test

import (
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/views/oracle"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
	"github.com/pgsluice/sluice/tests/views/oracle/naive"
)

// fault is a subject that is wrong, and what the oracle should say of it.
type fault struct {
	name    string
	subject oracle.Subject
	mode    string
	kind    oracle.Kind
	options cases.Options
	seed    uint64 // the first that shows it, or did when it was written down; others are tried only if it does not
}

var (
	usual  = cases.Options{Views: 4, Steps: 8}
	simple = cases.Options{Views: 8, Steps: 8, Simple: true}
	all    = cases.Options{Views: 4, Steps: 8, All: true}

	special = cases.Options{Views: 10, Steps: 8, Simple: true, Special: true}
)

var faults = []fault{
	recompute(naive.IgnoresTruncate, oracle.Immediate, oracle.Differs, 15),
	recompute(naive.IgnoresTruncate, oracle.Differential, oracle.Differs, 15),
	recompute(naive.DuplicatesAsOne, oracle.Immediate, oracle.Differs, 1),
	recompute(naive.NullsDiffer, oracle.Differential, oracle.Differs, 1),
	recompute(naive.ClientFrontier, oracle.Differential, oracle.Differs, 5),
	recompute(naive.TransactionsOnce, oracle.Differential, oracle.Differs, 1),
	recompute(naive.NamesClash, oracle.Immediate, oracle.Writer, 15),
	recompute(naive.OtherTypes, oracle.Immediate, oracle.Columns, 1),
	{"reads the other tables as they are", naive.Deltas{}, oracle.Immediate, oracle.Differs, cases.Options{Views: 12, Steps: 8}, 791},
	groups(naive.NullGroups, 12),
	groups(naive.NothingIsZero, 4),
	groups(naive.ExtremesStay, 12),
	groups(naive.LastRowGoes, 33),
	groups(naive.FilterOnlyNew, 4),
	groups(naive.DistinctIsSum, 35),
	{string(naive.InfinityMinus), naive.Groups{Fault: naive.InfinityMinus}, oracle.Immediate, oracle.Differs, special, 23},
}

func recompute(f naive.RecomputeFault, mode string, kind oracle.Kind, seed uint64) fault {
	return fault{string(f) + ", " + mode, &naive.Recompute{Fault: f}, mode, kind, usual, seed}
}

func groups(f naive.GroupsFault, seed uint64) fault {
	return fault{string(f), naive.Groups{Fault: f}, oracle.Immediate, oracle.Differs, simple, seed}
}

// enough is how many seeds it takes at most to find a fault, and small how many statements a minimal script has at most.
const (
	enough = 80
	small  = 9
)

func TestFaultsAreFound(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			h := oracle.Hunt{
				Subject: f.subject, Modes: []string{f.mode}, Shrink: 10 * time.Minute, Again: "seed %d", Options: f.options,
			}
			report, seed := firstFailure(t, h, append([]uint64{f.seed}, upTo(enough)...))
			if report == nil {
				t.Fatal("not found")
			}
			t.Logf("seed %d, %d statements\n%s", seed, report.Statements(), report.Script())
			if report.Failure.Kind != f.kind || report.Statements() > small {
				t.Errorf("%q with %d statements, expected %q with %d at most", report.Failure.Kind, report.Statements(), f.kind, small)
			}
		})
	}
}

// upTo are the seeds from 1 on.
func upTo(last uint64) (seeds []uint64) {
	for seed := uint64(1); seed <= last; seed++ {
		seeds = append(seeds, seed)
	}
	return seeds
}

// firstFailure tries seeds.
func firstFailure(t *testing.T, h oracle.Hunt, seeds []uint64) (*oracle.Report, uint64) {
	t.Helper()
	p := oracle.NewPlace(t)
	for _, seed := range seeds {
		report, _, err := h.Seed(t.Context(), p, seed)
		if err != nil {
			t.Fatal(err)
		}
		if report != nil {
			return report, seed
		}
	}
	return nil, 0
}

func TestNothingIsFoundInWhatIsRight(t *testing.T) {
	right := []fault{
		{"views", naive.Views{}, oracle.Immediate, "", all, 0},
		{"recompute", &naive.Recompute{}, oracle.Immediate, "", usual, 0},
		{"recompute, differential", &naive.Recompute{}, oracle.Differential, "", usual, 0},
		{"groups", naive.Groups{}, oracle.Immediate, "", simple, 0},
	}
	for _, r := range right {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			h := oracle.Hunt{
				Subject: r.subject, Modes: []string{r.mode}, Shrink: 10 * time.Minute, Again: "seed %d", Options: r.options,
			}
			if report, _ := firstFailure(t, h, upTo(pgtest.ShortOrLong[uint64](3, 8))); report != nil {
				t.Errorf("\n%s", report.Script())
			}
		})
	}
}
