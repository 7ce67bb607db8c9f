package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
)

// fewObjects is up to how many objects of an action are named; more are counted.
const fewObjects = 3

// printPlan prints an upgrade by what the spec names: what goes, what is rebuilt, what waits. Verbose prints the steps instead, in their order, with
// their statements.
func printPlan(out io.Writer, plan upgrade.Plan, verbose bool) error {
	if plan.Empty() {
		fmt.Fprintf(out, "versions %s and %s have the same objects: the upgrade only notes the new number\n", plan.From, plan.To)
	} else if plan.From == plan.To {
		fmt.Fprintf(out, "version %s\n", plan.To)
	} else {
		fmt.Fprintf(out, "from %s to %s%s\n", plan.From, plan.To, map[bool]string{true: ", a downgrade"}[plan.Downgrade])
	}
	if verbose {
		printSteps(out, plan.Steps)
		return nil
	}
	for _, g := range plan.Groups() {
		if lines := summary(g); len(lines) > 0 || title(g) != g.Of && g.Of != "" {
			fmt.Fprintf(out, "\n%s\n%s", title(g), strings.Join(lines, ""))
		}
	}
	return nil
}

// title names what a group is of, and says whether the upgrade adds or drops it.
func title(g upgrade.Group) string {
	if g.Of == "" {
		return "shared"
	}
	for _, change := range g.Changes {
		if change.Option == "" {
			return g.Of + map[string]string{"add": ": added", "drop": ": dropped"}[change.Action]
		}
	}
	return g.Of
}

func printSteps(out io.Writer, steps []upgrade.Step) {
	for _, step := range steps {
		fmt.Fprintf(out, "\n%-8s %s\n", step.Action, step.Object)
		if step.Lock != "" {
			fmt.Fprintf(out, "         locks: %s\n", step.Lock)
		}
		if step.Loses != "" {
			fmt.Fprintf(out, "         LOSES: %s\n", step.Loses)
		}
		if sql := strings.TrimRight(step.SQL, "\n"); sql != "" {
			fmt.Fprintf(out, "    %s\n", strings.ReplaceAll(sql, "\n", "\n    "))
		}
	}
}

// summary is the lines of a group: what changes in the spec, what the upgrade loses, renames, rebuilds and locks, and which objects it adds, changes
// and drops.
func summary(g upgrade.Group) (lines []string) {
	options := optionLines(g)
	var loses, renames, rebuilds, locks []string
	objects := map[string][]string{} // by action
	for _, step := range g.Steps {
		if step.Loses != "" {
			loses = append(loses, step.Loses)
		}
		if step.Follows {
			continue // the rename says it
		}
		if lock := lockOf(step); lock != "" && !slices.Contains(locks, lock) {
			locks = append(locks, lock)
		}
		switch step.Action {
		case "lock":
		case "rename":
			renames = append(renames, step.Object)
		case "rebuild":
			rebuilds = append(rebuilds, step.Object)
		default:
			kind, _, _ := strings.Cut(step.Object, " ")
			said := step.Object == g.Of || kind == "outbox" || strings.HasPrefix(step.Object, "what is noted")
			if !said && !slices.Contains(objects[step.Action], step.Object) {
				objects[step.Action] = append(objects[step.Action], step.Object)
			}
		}
	}
	// What is dropped to be created again is changed.
	objects["drop"] = slices.DeleteFunc(objects["drop"], func(id string) bool { return slices.Contains(objects["change"], id) })
	var parts []string
	for _, action := range []string{"add", "change", "drop"} {
		for _, part := range byKind(objects[action]) {
			parts = append(parts, action+"s "+part)
		}
	}
	for _, part := range []struct {
		word string
		of   []string
	}{
		{"adds", options["add"]}, {"changes", options["change"]}, {"drops", options["drop"]},
		{"LOSES", loses}, {"renames", renames}, {"rebuilds", rebuilds}, {"locks", locks}, {"objects", parts},
	} {
		for n, line := range part.of {
			lines = append(lines, fmt.Sprintf("  %-9s%s\n", map[bool]string{true: part.word}[n == 0], line))
		}
	}
	return lines
}

// lockOf is the lock of a step, with the name of what is locked where the step's object says it.
func lockOf(step upgrade.Step) string {
	kind, table, _ := strings.Cut(step.Object, " ")
	if _, on, found := strings.Cut(table, " on "); found {
		table = on
	} else if kind != "table" && kind != upgrade.Policy {
		return step.Lock
	}
	return strings.NewReplacer(" on it,", " on "+table+",", " on its table,", " on "+table+",").Replace(step.Lock)
}

// statementKinds are those that a script creates; what functions make at run time is always named.
var statementKinds = []string{"schema", "table", "sequence", "index", "function", "procedure", "trigger", "view", "row", "role", "grant", "type", upgrade.Policy}

// byKind lists objects, or how many there are of each kind.
func byKind(ids []string) []string {
	if len(ids) <= fewObjects {
		return ids
	}
	kinds := map[string]int{}
	var named []string
	for _, id := range ids {
		if kind, _, _ := strings.Cut(id, " "); slices.Contains(statementKinds, kind) {
			kinds[kind]++
		} else {
			named = append(named, id)
		}
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		switch n := kinds[kind]; {
		case kind == upgrade.Policy && n > 1:
			parts = append(parts, "policies of "+diag.Count(n, "table"))
		default:
			parts = append(parts, diag.Count(n, kind))
		}
	}
	return append(named, strings.Join(parts, ", "))
}
