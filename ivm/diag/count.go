package diag

import (
	"fmt"
	"strings"
)

// Count is a number of things in words: 1 row, 2 rows, 2 indexes.
func Count[N int | int64](n N, one string) string {
	switch {
	case n == 1:
		return "1 " + one
	case strings.HasSuffix(one, "x"):
		one += "e"
	}
	return fmt.Sprintf("%d %ss", n, one)
}
