package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// compiledViews are so many as the goal is about, and in how many ms.
const (
	compiledViews = 100
	compileGoal   = 500
)

func compileCases() []benchCase {
	return []benchCase{{compileSection, fmt.Sprintf("%d-views", compiledViews), func(_ context.Context, b *bench) ([]row, error) { return b.compileAll() }}}
}

// compileAll measures how long the generator takes, from files of a spec to files of SQL in memory.
func (b *bench) compileAll() ([]row, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	var times []float64
	for range 3 * b.cfg.Rounds {
		start := time.Now()
		extension, err := streamTables("differential", variants(compiledViews)...)
		if err != nil {
			return nil, err
		}
		if _, err := extension.Files(nil); err != nil {
			return nil, err
		}
		times = append(times, milliseconds(start))
	}
	x := row{Case: "generate", Unit: "ms", Ours: spreadOf(times)}
	x.goal(below(compileGoal))
	return []row{x}, nil
}
