// Command bench measures the inbox against plain tables that do the same by hand.
//
//	go run ./tests/bench                          # everything, in about ten minutes
//	go run ./tests/bench -run 'claim.*10 workers' # some measurements; -list names them all
//	go run ./tests/bench -run flat -long          # ten minutes behind an open transaction, and ten without
//	go run ./tests/bench -run '^earlier'          # what applications call often, beside commit a131fa4a; -earlier names another
//
// It starts a throw-away server with fsync on, installs the sample shop, and
// uses its inbox payments, which has every default.
//
// A machine is never quiet, so no figure stands alone: ours and the baseline
// take turns (A B A B …) in the same run, on the same server, by the same Go
// code with other SQL, and what counts is the median of the ratios of the turns.
// Times are taken by the client and include the way there and back. While ours
// is measured, a scheduler ticks once a second, as it would in production.
//
// After every turn the table is counted: a message that was claimed twice or
// lost ends the program with status 1. A goal that is not met does not; it is
// said in the report.
package main
