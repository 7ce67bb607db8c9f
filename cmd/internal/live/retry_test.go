package live

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestPassing has errors tried again that another session causes, also of definitions of what it has dropped, and no others.
func TestPassing(t *testing.T) {
	for _, c := range []struct {
		code, message string
		want          bool
	}{
		{"55P03", "canceling statement due to lock timeout", true},
		{"XX000", "could not open relation with OID 161148", true},
		{"XX000", "cache lookup failed for function 161148", true},
		{"XX000", "invalid memory alloc request size 1073741824", false},
		{"42P01", "relation \"a\" does not exist", false},
	} {
		err := fmt.Errorf("reading: %w", &pgconn.PgError{Code: c.code, Message: c.message})
		if got := passing(err); got != c.want {
			t.Errorf("%s %s: %v", c.code, c.message, got)
		}
	}
}
