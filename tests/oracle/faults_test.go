package oracle_test

import (
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/oracle"
	"github.com/pgsluice/sluice/tests/oracle/cases"
	"github.com/pgsluice/sluice/tests/oracle/naive"
)

// fault is a subject that is wrong, and what the oracle should say of it.
type fault struct {
	name    string
	subject oracle.Subject
	mode    string
	kind    oracle.Kind
	options cases.Options
}

var (
	usual  = cases.Options{Views: 4, Steps: 8}
	simple = cases.Options{Views: 8, Steps: 8, Simple: true}
	all    = cases.Options{Views: 4, Steps: 8, All: true}

	special = cases.Options{Views: 10, Steps: 8, Simple: true, Special: true}
)

var faults = []fault{
	recompute(naive.IgnoresTruncate, oracle.Immediate, oracle.Differs),
	recompute(naive.IgnoresTruncate, oracle.Differential, oracle.Differs),
	recompute(naive.DuplicatesAsOne, oracle.Immediate, oracle.Differs),
	recompute(naive.NullsDiffer, oracle.Differential, oracle.Differs),
	recompute(naive.ClientFrontier, oracle.Differential, oracle.Differs),
	recompute(naive.TransactionsOnce, oracle.Differential, oracle.Differs),
	recompute(naive.NamesClash, oracle.Immediate, oracle.Writer),
	recompute(naive.OtherTypes, oracle.Immediate, oracle.Columns),
	{"reads the other tables as they are", naive.Deltas{}, oracle.Immediate, oracle.Differs, cases.Options{Views: 12, Steps: 8}},
	groups(naive.NullGroups),
	groups(naive.NothingIsZero),
	groups(naive.ExtremesStay),
	groups(naive.LastRowGoes),
	groups(naive.FilterOnlyNew),
	groups(naive.DistinctIsSum),
	{string(naive.InfinityMinus), naive.Groups{Fault: naive.InfinityMinus}, oracle.Immediate, oracle.Differs, special},
}

func recompute(f naive.RecomputeFault, mode string, kind oracle.Kind) fault {
	return fault{string(f) + ", " + mode, &naive.Recompute{Fault: f}, mode, kind, usual}
}

func groups(f naive.GroupsFault) fault {
	return fault{string(f), naive.Groups{Fault: f}, oracle.Immediate, oracle.Differs, simple}
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
				Subject: f.subject, Modes: []string{f.mode}, Shrink: 2 * time.Minute, Again: "seed %d", Options: f.options,
			}
			report, seed := firstFailure(t, h, enough)
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

// firstFailure tries seeds from 1 on.
func firstFailure(t *testing.T, h oracle.Hunt, most uint64) (*oracle.Report, uint64) {
	t.Helper()
	p := oracle.NewPlace(t)
	for seed := uint64(1); seed <= most; seed++ {
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
		{"views", naive.Views{}, oracle.Immediate, "", all},
		{"recompute", &naive.Recompute{}, oracle.Immediate, "", usual},
		{"recompute, differential", &naive.Recompute{}, oracle.Differential, "", usual},
		{"groups", naive.Groups{}, oracle.Immediate, "", simple},
	}
	for _, r := range right {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			h := oracle.Hunt{
				Subject: r.subject, Modes: []string{r.mode}, Shrink: 2 * time.Minute, Again: "seed %d", Options: r.options,
			}
			if report, _ := firstFailure(t, h, 8); report != nil {
				t.Errorf("\n%s", report.Script())
			}
		})
	}
}
