// Package sandbox starts throw-away PostgreSQL servers for the demo, for
// verify and for tests.
//
// A server lives in a directory of its own below the temporary directory, is
// reached through a Unix socket there, trusts everyone who can reach that
// socket, and is gone, files and all, after Close. When the calling process
// runs as root, the server runs as another user, since PostgreSQL refuses root.
// A server never outlives the process that started it, however that ends.
package sandbox
