package fuzz

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// TestGenerated gives the generator the oracle's schemas and queries in random modes, as they are and with pieces of them exchanged.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	for seed := range count(t, 40) {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		c := cases.Generate(uint64(seed), cases.Options{Views: 4, Steps: 1, All: seed%2 == 0})
		var text strings.Builder
		text.WriteString("version: 1\nextension: {name: fuzz, version: 1.0.0, schema: sl}\nschema: [schema.sql]\nstream_tables:\n")
		for _, v := range c.Views {
			query := c.SQL(v, func(name string) string { return "sl." + name })
			if random.IntN(3) == 0 {
				query = exchanged(random, query)
			}
			fmt.Fprintf(&text, "  - name: %s\n    refresh_mode: %s\n    query: |2\n      %s\n", v.Name, modeOf(random), strings.ReplaceAll(query, "\n", "\n      "))
		}
		guarded(t, fmt.Sprint("seed ", seed), c.DDL()+text.String(), func() { generate(t, dir, text.String(), c.DDL()) })
	}
}

// count is how many cases to try.
func count(t *testing.T, usual int) int {
	text := os.Getenv("SLUICE_TEST_CASES")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// modeOf is mostly auto: one stream table that is refused hides what becomes of the others.
func modeOf(random *rand.Rand) string {
	if random.IntN(2) == 0 {
		return spec.RefreshAuto
	}
	return modes[random.IntN(len(modes))]
}

// exchanged is a query with one of its words in the place of another.
func exchanged(random *rand.Rand, query string) string {
	words := strings.Fields(query)
	i, j := random.IntN(len(words)), random.IntN(len(words))
	switch random.IntN(3) {
	case 0:
		words[i] = words[j]
	case 1:
		words[i], words[j] = words[j], words[i]
	default:
		words = append(words[:i], words[i+1:]...)
	}
	return strings.Join(words, " ")
}
