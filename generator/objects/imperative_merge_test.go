package objects

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/generator/render"
)

// TestMerge merges random statements of four kinds: each kind has its own lines, in order, and nothing else.
func TestMerge(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	for range 500 {
		var all []shared
		var want [4]string
		texts := map[string][]string{} // of a statement, to be changed by each kind
		for kind := range want {
			var statements []statement
			for n := range 4 {
				id := fmt.Sprint("statement ", n)
				if random.IntN(5) == 0 {
					continue
				}
				lines := slices.Clone(texts[id])
				for len(lines) < 12 {
					lines = append(lines, fmt.Sprint("line ", random.IntN(15)))
				}
				for range random.IntN(4) {
					lines[random.IntN(len(lines))] = fmt.Sprint("line ", random.IntN(15))
				}
				if random.IntN(6) == 0 {
					lines = []string{"apart", fmt.Sprint(kind)}
				}
				texts[id] = lines
				statements = append(statements, statement{id, strings.Join(lines, "\n") + "\n"})
				want[kind] += strings.Join(lines, "\n") + "\n"
			}
			all = merge(all, statements, kind)
		}
		for kind := range want {
			got := ""
			for _, s := range all {
				for _, l := range slices.Concat(s.variants...) {
					if l.of.has(kind) {
						got += l.text + "\n"
					}
				}
			}
			if got != want[kind] {
				t.Fatalf("seed %d: kind %d has\n%s\ninstead of\n%s", seed, kind, got, want[kind])
			}
		}
	}
}

// TestConditionOf evaluates the condition of each set of kinds.
func TestConditionOf(t *testing.T) {
	var all []render.CreatedKind
	for _, mode := range []string{"", "monotonic", "contiguous"} {
		parted := render.Inbox{Own: &render.OwnTable{Partitioned: true}}
		all = append(all, render.CreatedKind{Mode: mode}, render.CreatedKind{Mode: mode, Tracked: true}, render.CreatedKind{Inbox: parted, Mode: mode, Tracked: true})
	}
	for set := kinds(1); set < 1<<len(all); set++ {
		for n, kind := range all {
			if got := isTrue(conditionOf(all, set), kind); got != set.has(n) {
				t.Errorf("set %b: %q of kind %+v is %t", set, conditionOf(all, set), kind.Mode, got)
			}
		}
	}
}

// isTrue evaluates a condition as SQL does.
func isTrue(condition string, kind render.CreatedKind) bool {
	for _, either := range strings.Split(condition, " or ") {
		all := true
		for _, term := range strings.Split(either, " and ") {
			mode := "'" + kind.Mode + "'"
			switch {
			case term == "":
			case term == "v_inbox.is_managed":
				all = all && !kind.Tracked
			case term == "not v_inbox.is_managed":
				all = all && kind.Tracked
			case term == "v_is_parted":
				all = all && kind.ByRow()
			case term == "not v_is_parted":
				all = all && !kind.ByRow()
			case strings.HasPrefix(term, "v_mode = "):
				all = all && strings.TrimPrefix(term, "v_mode = ") == mode
			case strings.HasPrefix(term, "v_mode <> "):
				all = all && strings.TrimPrefix(term, "v_mode <> ") != mode
			case strings.HasPrefix(term, "v_mode in ("):
				all = all && strings.Contains(term, mode)
			default:
				panic(term)
			}
		}
		if all {
			return true
		}
	}
	return false
}
