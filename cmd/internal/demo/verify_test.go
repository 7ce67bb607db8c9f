package demo

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// clean is facts of a run in which all went well.
func clean(t *testing.T) Facts {
	t.Helper()
	plan, err := NewPlan(1, 500)
	if err != nil {
		t.Fatal(err)
	}
	f := Facts{
		Plan:       plan,
		MaxRetries: map[string]int{"order_events": 3, "payments": 3},
		Tally:      Tally{Sent: plan.Deliveries, Received: 500, Duplicates: plan.Deliveries - 500},
		Looks:      7,
		Observation: Observation{
			Effects: map[string][]string{}, Dead: map[string]bool{}, Recount: map[string]Counts{}, Ticks: 3,
			Published: map[string]int{}, Deliveries: map[string][]string{},
		},
	}
	orders := map[string]bool{}
	for _, e := range plan.Events {
		counts := f.Recount[e.Type]
		if e.Poison() {
			f.Dead[e.ID] = true
			counts.DeadLetter++
			f.Failures += 3
		} else {
			f.Effects[e.ID] = []string{"worker 1.2"}
			f.Published[e.ID], f.Deliveries[e.ID] = 1, []string{"consumer 2"}
			counts.Processed++
			f.Failures += e.Fails
			orders[e.OrderID] = true
			if e.Type == "payment.captured" {
				f.Captured += e.Cents
			}
		}
		f.Recount[e.Type] = counts
	}
	f.Orders = len(orders)
	f.Tables = map[string]Compared{"totals": {Rows: 3}}
	f.Stats = maps.Clone(f.Recount)
	f.Losses = []Loss{{Worker: "worker 1.1", How: terminated, Messages: 1, ids: []string{anyGood(f).ID}}}
	f.ConsumerLosses = []Loss{{Worker: "consumer 1", How: terminated, Messages: 1, ids: []string{anyGood(f).ID}}}
	return f
}

func anyGood(f Facts) *Event { return f.Plan.good()[3] }

func anyPoison(f Facts) *Event {
	return f.Plan.Events[slices.IndexFunc(f.Plan.Events, (*Event).Poison)]
}

// TestVerifyFindsFaults breaks one thing at a time: the checks that it concerns fail, and no others.
func TestVerifyFindsFaults(t *testing.T) {
	const (
		left       = "nothing is left but dead letters"
		once       = "each event had its effect exactly once"
		dead       = "the dead letters are the poison messages"
		sent       = "received + duplicates = sent"
		attempts   = "attempts failed as planned, no more and no less"
		rescued    = "what dead workers left was processed by others"
		books      = "the shop's books are right"
		delivered  = "each effect was published and delivered once"
		taken      = "what a dead consumer held went to others"
		statistics = "statistics agree with a recount"
		background = "background work ran without complaint"
	)
	for _, c := range []struct {
		fault string
		spoil func(*Facts)
		fails []string
	}{
		{"none", func(*Facts) {}, nil},
		{"effect missing", func(f *Facts) { delete(f.Effects, f.Plan.good()[0].ID) }, []string{once, delivered}},
		{"effect twice", func(f *Facts) { f.Effects[f.Plan.good()[0].ID] = []string{"worker 1.1", "worker 2.1"} }, []string{once}},
		{"effect of poison", func(f *Facts) { f.Effects[anyPoison(*f).ID] = []string{"worker 1.1"} }, []string{once, delivered}},
		{"effect of nothing sent", func(f *Facts) { f.Effects["evt"] = []string{"worker 1.1"} }, []string{once, delivered}},
		{"dead letter missing", func(f *Facts) { delete(f.Dead, anyPoison(*f).ID) }, []string{dead}},
		{"dead letter that is none", func(f *Facts) { f.Dead[anyGood(*f).ID] = true }, []string{dead}},
		{"duplicate not counted", func(f *Facts) { f.Tally.Duplicates-- }, []string{sent}},
		{"duplicate stored", func(f *Facts) { f.Tally.Duplicates--; f.Tally.Received++ }, []string{sent}},
		{"not all sent", func(f *Facts) { f.Tally.Sent--; f.Tally.Duplicates-- }, []string{sent}},
		{"one retry too many", func(f *Facts) { f.Failures++ }, []string{attempts}},
		{"message processed by the dead", func(f *Facts) { f.Effects[anyGood(*f).ID] = []string{"worker 1.1"} }, []string{rescued}},
		{"nobody killed", func(f *Facts) { f.Losses[0].How = gaveUp }, []string{rescued}},
		{"order missing", func(f *Facts) { f.Orders-- }, []string{books}},
		{"cent too much", func(f *Facts) { f.Captured++ }, []string{books}},
		{"effect not published", func(f *Facts) { delete(f.Published, f.Plan.good()[0].ID) }, []string{delivered}},
		{"effect published twice", func(f *Facts) { f.Published[f.Plan.good()[0].ID] = 2 }, []string{delivered}},
		{"event of an effect that was rolled back", func(f *Facts) { f.Published[anyPoison(*f).ID] = 1 }, []string{delivered}},
		{"event not delivered", func(f *Facts) { delete(f.Deliveries, f.Plan.good()[0].ID) }, []string{delivered}},
		{"event delivered twice", func(f *Facts) {
			f.Deliveries[f.Plan.good()[0].ID] = []string{"consumer 2", "consumer 3"}
		}, []string{delivered}},
		{"event delivered by the dead", func(f *Facts) { f.Deliveries[anyGood(*f).ID] = []string{"consumer 1"} }, []string{taken}},
		{"no consumer killed", func(f *Facts) { f.ConsumerLosses = nil }, []string{taken}},
		{"statistics off", func(f *Facts) { f.Stats["order.placed"] = Counts{Pending: 1} }, []string{statistics}},
		{"stream table off", func(f *Facts) { f.Tables["totals"] = Compared{Rows: 3, Wrong: 1} }, []string{"stream tables equal their queries"}},
		{"statistics off for a moment", func(f *Facts) { f.WrongLooks = 1 }, []string{statistics}},
		{"pending", func(f *Facts) {
			c := Counts{Pending: 1, Processed: f.Recount["order.paid"].Processed - 1, DeadLetter: f.Recount["order.paid"].DeadLetter}
			f.Recount["order.paid"], f.Stats["order.paid"] = c, c
		}, []string{left}},
		{"scheduler complains", func(f *Facts) { f.Complaints = []string{"deadlock"} }, []string{background}},
		{"scheduler asleep", func(f *Facts) { f.Ticks = 0 }, []string{background}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			facts := clean(t)
			c.spoil(&facts)
			var fails []string
			for _, check := range Failed(Verify(facts)) {
				fails = append(fails, check.Name)
			}
			if !slices.Equal(fails, c.fails) {
				t.Errorf("failed: %q, want %q", fails, c.fails)
			}
		})
	}
}

// TestReportFails shows a failed check in the text and in the error.
func TestReportFails(t *testing.T) {
	facts := clean(t)
	facts.Effects[anyGood(facts).ID] = []string{"worker 2.1", "worker 3.1"}
	report := newReport(Options{}, facts, Tallies{}, 1)
	var text strings.Builder
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if want := "FAILED  each event had its effect exactly once"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, &text)
	}
	if report.Err() == nil {
		t.Error("no error")
	}
}

// TestPlanComesFromSeed: the same seed makes the same traffic, another seed another.
func TestPlanComesFromSeed(t *testing.T) {
	var plans []string
	for _, seed := range []uint64{7, 7, 8} {
		plan, err := NewPlan(seed, 300)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, s := range plan.Sends {
			for _, e := range s.Events {
				b.WriteString(e.ID + e.Payload + s.Delay.String() + s.Hold.String())
			}
		}
		plans = append(plans, b.String())
	}
	if plans[0] != plans[1] || plans[0] == plans[2] {
		t.Error("plans do not follow their seeds")
	}
}
