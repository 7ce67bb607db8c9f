package cases

import "math/rand/v2"

// random is a source of choices.
type random struct{ *rand.Rand }

// newRandom makes the stream of choices that a seed has for a part of the case, so that a change in the making of one part
// leaves the others alone.
func newRandom(seed, part uint64) random { return random{rand.New(rand.NewPCG(seed, part))} }

// chance is true so many times in a hundred.
func (r random) chance(percent int) bool { return r.IntN(100) < percent }

// between is a number from low to high.
func (r random) between(low, high int) int { return low + r.IntN(high-low+1) }

// one is one of the texts.
func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

// pick is one of the list, which must not be empty.
func pick[T any](r random, from []T) T { return from[r.IntN(len(from))] }

// some picks from low to high of the list, in a random order, fewer if there are not so many.
func some[T any](r random, from []T, low, high int) []T {
	count := min(r.between(low, high), len(from))
	picked := make([]T, 0, count)
	for _, i := range r.Perm(len(from))[:count] {
		picked = append(picked, from[i])
	}
	return picked
}

// choice is something that is chosen as often as its weight says.
type choice[T any] struct {
	weight int
	what   T
}

func weighted[T any](r random, from []choice[T]) T {
	total := 0
	for _, c := range from {
		total += c.weight
	}
	n := r.IntN(total)
	for _, c := range from {
		if n -= c.weight; n < 0 {
			return c.what
		}
	}
	panic("unreachable")
}
