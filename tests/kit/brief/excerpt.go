package main

import (
	"fmt"
	"io"
	"slices"
)

// beginning and end are how many lines of a test are kept from its first and from its last: what failed stands last.
const beginning, end = 6, 33

// excerpt is the beginning and the end of what a test prints.
type excerpt struct {
	first, last []string
	left        int // lines between the two
}

func (x *excerpt) add(line string) {
	if len(x.first) < beginning {
		x.first = append(x.first, line)
		return
	}
	x.last = append(x.last, line)
	if len(x.last) > 2*end {
		x.left += len(x.last) - end
		x.last = slices.Clone(x.last[len(x.last)-end:])
	}
}

// print prints at most 40 lines.
func (x *excerpt) print(out io.Writer) {
	last, left := x.last, x.left
	if more := len(last) - end; more > 0 {
		last, left = last[more:], left+more
	}
	for _, line := range x.first {
		fmt.Fprint(out, line)
	}
	if left > 0 {
		fmt.Fprintf(out, "    [%d lines are left out]\n", left)
	}
	for _, line := range last {
		fmt.Fprint(out, line)
	}
}
