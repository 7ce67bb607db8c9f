// Package coverage says of each construct of queries how it is maintained, and proves that: testdata/constructs has an example of each, and what becomes of it.
// docs/coverage.md is made of that file. Tests look whether the examples stay equal to their queries in both modes, whether single-row changes read as few
// rows of large tables as of small ones, what writers pay with all of them installed, and how long their SQL is.
package coverage
