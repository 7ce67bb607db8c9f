package generator

import (
	"runtime"
	"sync"
)

// checks run beside the generator: parsing what it emits is half of the work, and each part is checked by itself.
type checks struct {
	slots   chan struct{}
	running sync.WaitGroup
	once    sync.Once
	err     error // of the first that failed
}

func newChecks() *checks { return &checks{slots: make(chan struct{}, runtime.GOMAXPROCS(0))} }

// begin starts a check once a processor is free for it.
func (c *checks) begin(check func() error) {
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

// wait returns what was wrong with one of them.
func (c *checks) wait() error {
	c.running.Wait()
	return c.err
}

// inParallel maps values, on all processors.
func inParallel[T, R any](values []T, do func(T) R) []R {
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
