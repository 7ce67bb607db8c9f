package ivm

import "regexp"

// internal are the names of columns that generated SQL has beside those of queries and tables.
var internal = regexp.MustCompile(`^__(mult|hash|n|no|xid|at|was|comes|lost|kept|row|old|new|event|self|few|seen|from|own|own_no|rows|place|rank|(key|order|sum|count|odd|scales|min|max|was)[0-9]+)$`)

// IsInternal reports whether a column of generated SQL may have a name, so that none of a query or of a table that it reads can.
func IsInternal(name string) bool { return internal.MatchString(name) }
