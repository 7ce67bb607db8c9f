package recipes

import (
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// action is the GitHub Action of .ci/action, as a job with some of its inputs given.
func action(t *testing.T, inputs map[string]string) job {
	t.Helper()
	var definition struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Name, Uses, If, Shell, Run string
				Env                        map[string]string
			}
		}
	}
	text, err := os.ReadFile("../../../.ci/action/action.yml")
	must(t, err)
	must(t, yaml.Unmarshal(text, &definition))
	value := func(text string) string {
		for name, input := range definition.Inputs {
			given, isGiven := inputs[name]
			if !isGiven {
				given = input.Default
			}
			text = strings.ReplaceAll(strings.ReplaceAll(text, "${{ inputs."+name+" }}", given), "inputs."+name+" ==", "'"+given+"' ==")
		}
		if strings.Contains(text, "inputs.") {
			t.Errorf("an input that there is not: %s", text)
		}
		return text
	}
	j := job{name: "action", env: map[string]string{}}
	for _, s := range definition.Runs.Steps {
		switch {
		case s.Run == "":
		case s.Shell != "bash", strings.Contains(s.Run, "${{"):
			t.Errorf("step %s runs in shell %q, or has an input in its script", s.Name, s.Shell)
		case s.If == "" || value(s.If) == "'true' == 'true'":
			j.steps = append(j.steps, s.Run)
			for name, text := range s.Env {
				j.env[name] = value(text)
			}
		}
	}
	return j
}

// TestAction runs the action as a workflow does that checks, and as one that applies.
func TestAction(t *testing.T) {
	r := newRepository(t, build(t))
	production := pgtest.DB(t)
	production.Exec(t, r.read("specs/app/schema.sql"))
	check, apply := action(t, nil), action(t, map[string]string{"apply": "true", "database-url": "of the test"})
	if len(check.steps) != 2 || len(apply.steps) != 3 || apply.env["SLUICE_VERSION"] != "latest" {
		t.Fatalf("steps %q and %q", check.steps, apply.steps)
	}
	r.passes(check, nil)
	r.passes(apply, production)
	r.version(production, "0.1.0")
	r.edit("specs/app/spec.yaml", "max_retries: 3", "max_retries: 4")
	r.fails(apply, production)
	r.version(production, "0.1.0")
}
