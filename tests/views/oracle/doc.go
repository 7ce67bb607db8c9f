// Package oracle finds out whether stream tables stay equal to their queries.
//
// A seed gives a case (package cases): tables with rows, views, and transactions. A subject keeps a relation for each view, and
// the oracle compares it with the view's query, as bags, after each step, in each refresh mode that the subject has. What else must
// not happen: that a statement of the application fails, or succeeds, because there are stream tables; that the relation has
// other columns than the query; that the application's tables end up different. A failure is made smaller as long as it stays
// one, and printed as a script for psql with the rows that differ.
//
//	go test ./tests/views/oracle                                       # a short pass
//	SLUICE_TEST_SEED=17 go test ./tests/views/oracle                   # one seed
//	SLUICE_TEST_CASES=1000 go test ./tests/views/oracle                # more seeds
//	make soak SOAK=2h                                            # seeds that nobody has tried, for hours
//
// Package naive has subjects that are right, and others that each have a fault that incremental maintenance is known for: the
// oracle is tested with them.
package oracle
