package main

import (
	"context"
	"fmt"
)

func logCases() []benchCase {
	var all []benchCase
	for _, rows := range []int{1, 100, 10_000} {
		name := fmt.Sprint(rows)
		all = append(all, benchCase{logSection, name, func(ctx context.Context, b *bench) ([]row, error) { return b.logs(ctx, name, rows) }})
	}
	return all
}

// logs measures statements on a table whose change log serves views of all classes, against one without triggers.
func (b *bench) logs(ctx context.Context, name string, rows int) ([]row, error) {
	plain, err := b.views(ctx, viewsPlain, nil)
	if err != nil {
		return nil, err
	}
	logged, err := b.views(ctx, "views_log", func(dsn string) error { return installViews(ctx, dsn, "differential", classes...) })
	if err != nil {
		return nil, err
	}
	times, err := b.cycles(ctx, []string{logged, plain}, rows)
	if err != nil {
		return nil, err
	}
	var result []row
	for i, kind := range cycleKinds {
		x := row{Case: name + " " + kind, Unit: "µs"}
		x.compare(times[0].kinds[i], times[1].kinds[i])
		result = append(result, x)
	}
	// What the log holds is applied and pruned, so that it does not grow from case to case.
	return result, b.consume(ctx, logged)
}
