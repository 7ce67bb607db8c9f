// Package examples is the Go code of docs/inbox.md, docs/outbox.md and docs/stream-table-outbox.md: a worker, a publisher, a relay, and a copy of a stream table. It
// compiles, and its tests run it against a server.
//
// Copy what you need: it wants nothing but pgx. Loops in Python, JavaScript and Java stand beside it, as docs/patterns.md lists them.
package examples
