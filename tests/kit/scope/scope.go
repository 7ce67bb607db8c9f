// Package scope tries a small model of a system whole: each action in each state that few actions lead to (the small scope hypothesis: most
// faults show in small instances; D. Jackson, Software Abstractions, MIT Press 2006).
package scope

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// System is a model and what it is a model of, side by side.
type System interface {
	// Start begins anew, in the first state.
	Start() error
	// Actions lists what can be done in the model's state, in an order that follows from it.
	Actions() []string
	// Do does one of these to both. An error says how they differ.
	Do(action string) error
	// State is the model's: a text that is the same for states in which the same can be done with the same result.
	State() string
	// Finish ends whatever is open, and checks what has to hold in the end.
	Finish() error
}

// Tried counts states and pairs of a state and an action.
type Tried struct{ States, Pairs int }

// path leads to a state in which actions can be done.
type path struct {
	done, actions []string
}

// job is one action after a path, and what came of it.
type job struct {
	done  []string
	state string
	next  []string
}

// Try explores systems with long rows, and else takes so many random walks, of SLUICE_TEST_SEED. It fails the test on an error, and logs the counts.
func Try(t testing.TB, systems []System, depth, walks int) {
	t.Helper()
	seed, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	tried, err := Tried{}, error(nil)
	if pgtest.Long() {
		tried, err = Explore(systems, depth)
	} else {
		tried, err = Walk(systems, depth, seed, walks)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d pairs of a state and an action", tried.States, tried.Pairs)
}

// Explore does every action in every state that fewer actions than depth lead to, each after one shortest path. Systems are what does it side by side.
func Explore(systems []System, depth int) (Tried, error) {
	if err := systems[0].Start(); err != nil {
		return Tried{}, err
	}
	tried, known := Tried{States: 1}, map[string]bool{systems[0].State(): true}
	level := []path{{actions: systems[0].Actions()}}
	if err := systems[0].Finish(); err != nil {
		return tried, err
	}
	for range depth {
		jobs, err := runAll(systems, level)
		if err != nil {
			return tried, err
		}
		level = nil
		for _, j := range jobs {
			tried.Pairs++
			if !known[j.state] {
				known[j.state] = true
				tried.States++
				level = append(level, path{done: j.done, actions: j.next})
			}
		}
	}
	return tried, nil
}

// runAll does all actions of a level, up to the first error. The results are in the level's order.
func runAll(systems []System, level []path) ([]job, error) {
	var jobs []job
	for _, p := range level {
		for _, action := range p.actions {
			jobs = append(jobs, job{done: append(slices.Clone(p.done), action)})
		}
	}
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, len(systems))
	for w, s := range systems {
		all.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(jobs)) && errs[w] == nil; n = next.Add(1) - 1 {
				if errs[w] = jobs[n].run(s); errs[w] != nil {
					next.Store(int64(len(jobs)))
				}
			}
		})
	}
	all.Wait()
	return jobs, errors.Join(errs...)
}

func (j *job) run(s System) error {
	err := s.Start()
	for n := 0; n < len(j.done) && err == nil; n++ {
		if actions := s.Actions(); !slices.Contains(actions, j.done[n]) {
			err = fmt.Errorf("%s can not be done, but %v: what was done before led to another state this time", j.done[n], actions)
			break
		}
		err = s.Do(j.done[n])
	}
	if err == nil {
		j.state, j.next = s.State(), s.Actions()
		err = s.Finish()
	}
	return after(j.done, err)
}

func after(done []string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", strings.Join(done, ", "), err)
}

// Walk takes so many random walks of depth actions. What they try follows from the seed.
func Walk(systems []System, depth int, seed uint64, walks int) (Tried, error) {
	states, pairs := map[string]bool{}, map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	errs := make([]error, len(systems))
	for w, s := range systems {
		all.Go(func() {
			for n := w; n < walks && errs[w] == nil; n += len(systems) {
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				errs[w] = walk(s, depth, r, func(state, action string) {
					mu.Lock()
					defer mu.Unlock()
					states[state], pairs[state+" "+action] = true, true
				})
			}
		})
	}
	all.Wait()
	return Tried{len(states), len(pairs)}, errors.Join(errs...)
}

func walk(s System, depth int, r *rand.Rand, note func(state, action string)) error {
	var done []string
	err := s.Start()
	for len(done) < depth && err == nil {
		actions := s.Actions()
		action := actions[r.IntN(len(actions))]
		note(s.State(), action)
		done = append(done, action)
		err = s.Do(action)
	}
	if err == nil {
		err = s.Finish()
	}
	return after(done, err)
}
