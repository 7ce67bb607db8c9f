package pgtest

import (
	"os"
	"strconv"
)

// Long reports whether SLUICE_TEST_LONG=1 asks for the long rows too: all pairs of versions, all rows of a matrix, as many kills and seeds as it
// takes to meet what is rare. `make test-all` does; `make test` takes a part of them, chosen by SLUICE_TEST_SEED where it is random.
func Long() bool { return os.Getenv("SLUICE_TEST_LONG") != "" }

// Chosen reports whether a row is tested: with long rows each is, else one of so many, others with another SLUICE_TEST_SEED.
func Chosen(row, of int) bool {
	seed, _ := strconv.Atoi(os.Getenv("SLUICE_TEST_SEED"))
	return Long() || (row+seed)%of == 0
}

// ShortOrLong is the first of two sizes of a test, or with long rows the second.
func ShortOrLong[T any](short, long T) T {
	if Long() {
		return long
	}
	return short
}
