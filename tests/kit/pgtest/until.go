package pgtest

import (
	"testing"
	"time"
)

// patience is how long tests wait for what takes a moment on a quiet machine: on one with a load of 20, it takes a minute.
const patience = 2 * time.Minute

// Until waits until something is so, and fails the test if it is not in time. No test waits for a time to pass, but for those that prove something of times.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	if !Becomes(is) {
		t.Fatalf("within %v not: %s", patience, what)
	}
}

// UntilTrue waits until a query yields true.
func UntilTrue(t testing.TB, db Querier, sql string) {
	t.Helper()
	Until(t, sql, func() bool { return One[bool](t, db, sql) })
}

// Becomes waits until something is so, and reports whether it is in time.
func Becomes(is func() bool) bool {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if is() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}
