package rabbitmq

import (
	"context"
	"errors"
	"slices"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// depth is the number of documents of one key that are published before their confirmations, at most (8x faster than one).
const depth = 32

// InOrder holds since one channel publishes in order, and documents of a key follow each other by rounds: a document that failed ends its key. A broker
// decides on each document by itself, so within a round it may store those that follow one that it refuses. They count as not stored, and are sent again after
// it. A queue that refuses documents because it is full is what can do so while others take its messages: after the first refusal a round has one document of
// each key. So has a round with a routing key that no queue is known to take.
func (s *sink) InOrder() {}

// round is a part of a call that is published at once.
type round struct {
	places  []int
	pending map[string]int // documents by key
	held    map[string]bool
}

// next takes the first documents that can be published at once. It returns the places of the others.
func (s *sink) next(documents []*wire.Document, rest []int) (r round, later []int) {
	r = round{pending: map[string]int{}, held: map[string]bool{}}
	for n, i := range rest {
		if len(r.places) == window {
			return r, append(later, rest[n:]...)
		}
		d := documents[i]
		most := depth
		if s.isCautious || !s.routed[d.Address] {
			most = 1
		}
		if d.Key != "" && (r.held[d.Key] || r.pending[d.Key] >= most) {
			r.held[d.Key] = true
			later = append(later, i)
			continue
		}
		r.places = append(r.places, i)
		r.pending[d.Key]++
		r.held[d.Key] = !s.routed[d.Address] // nothing follows it
	}
	return r, later
}

// sendRounds publishes documents, and none that follows one of its key that failed.
func (s *sink) sendRounds(ctx context.Context, l *link, documents []*wire.Document) []error {
	errs := make([]error, len(documents))
	rest := make([]int, 0, len(documents))
	for i, d := range documents {
		if errs[i] = s.check(l, d); errs[i] == nil {
			rest = append(rest, i)
		}
	}
	failed := map[string]bool{}
	for len(rest) > 0 && !l.channel.IsClosed() {
		var r round
		r, rest = s.next(documents, rest)
		part := make([]*wire.Document, len(r.places))
		for n, i := range r.places {
			part[n] = documents[i]
		}
		for n, err := range s.sendPart(ctx, l, part) {
			i, d := r.places[n], part[n]
			if !wire.IsRejected(err) {
				s.routed[d.Address] = err == nil
			}
			s.isCautious = s.isCautious || errors.Is(err, errRefused)
			switch {
			case d.Key == "":
			case err == nil && failed[d.Key]:
				err = wire.ErrBehind
			case err != nil && !wire.IsRejected(err):
				failed[d.Key] = true
			}
			errs[i] = err
		}
		rest = slices.DeleteFunc(rest, func(i int) bool {
			if failed[documents[i].Key] {
				errs[i] = wire.ErrBehind
			}
			return failed[documents[i].Key]
		})
	}
	for _, i := range rest {
		errs[i] = wire.ErrBehind
	}
	return errs
}
