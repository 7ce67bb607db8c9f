// Package parallel does independent work on all processors.
package parallel

import (
	"runtime"
	"sync"
)

// Checks run beside the generator: parsing what it emits is half of the work, and each part is checked by itself.
type Checks struct {
	slots   chan struct{}
	running sync.WaitGroup
	once    sync.Once
	err     error // of the first that failed
}

// NewChecks returns checks of which none has begun.
func NewChecks() *Checks { return &Checks{slots: make(chan struct{}, runtime.GOMAXPROCS(0))} }

// Begin starts a check once a processor is free for it.
func (c *Checks) Begin(check func() error) {
	c.slots <- struct{}{}
	c.running.Add(1)
	go func() {
		defer c.running.Done()
		if err := check(); err != nil {
			c.once.Do(func() { c.err = err })
		}
		<-c.slots
	}()
}

// Wait returns what was wrong with one of them.
func (c *Checks) Wait() error {
	c.running.Wait()
	return c.err
}

// Map maps values, on all processors.
func Map[T, R any](values []T, do func(T) R) []R {
	results := make([]R, len(values))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i, v := range values {
		slots <- struct{}{}
		running.Go(func() {
			results[i] = do(v)
			<-slots
		})
	}
	running.Wait()
	return results
}
