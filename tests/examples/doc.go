// Package examples is the Go code of docs/outbox.md: a publisher and a relay. It compiles, and its tests run it against a server.
//
// Copy what you need: it wants nothing but pgx.
package examples
