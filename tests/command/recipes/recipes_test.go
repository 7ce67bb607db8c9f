// Package recipes runs what docs/ci.md recommends: the commands of its YAML, as written, in a repository that sluice init made. Only
// the world around them is ours: go install puts the built command in place, apt-get finds psql there, and the service's address is the test's database.
package recipes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// job is what a recipe has run, in the environment that it sets.
type job struct {
	name  string
	env   map[string]string
	steps []string // each a script for a shell of its own
}

var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// recipe decodes the YAML of docs/ci.md that has a key.
func recipe(t *testing.T, key string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/ci.md")
	must(t, err)
	for _, match := range block.FindAllStringSubmatch(string(text), -1) {
		var keys map[string]any
		must(t, yaml.Unmarshal([]byte(match[1]), &keys))
		if _, has := keys[key]; has {
			must(t, yaml.Unmarshal([]byte(match[1]), into))
			return
		}
	}
	t.Fatalf("docs/ci.md has no YAML with %s", key)
}

func gitHub(t *testing.T) (check, apply job) {
	var workflow struct {
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct{ Run, Uses string }
		}
	}
	recipe(t, "jobs", &workflow)
	of := func(name string) job {
		j := job{name: name, env: workflow.Jobs[name].Env}
		for _, s := range workflow.Jobs[name].Steps {
			if (s.Run == "") == (s.Uses == "") {
				t.Errorf("a step of job %s is neither run nor uses", name)
			}
			if s.Run != "" {
				j.steps = append(j.steps, s.Run)
			}
		}
		return j
	}
	return of("check"), of("apply")
}

func gitLab(t *testing.T) (check, apply job) {
	type definition struct {
		Variables map[string]string
		Script    []string
	}
	var pipeline struct {
		Stages  []string
		Default struct {
			BeforeScript []string `yaml:"before_script"`
		}
		Check, Apply definition
	}
	recipe(t, "stages", &pipeline)
	of := func(name string, d definition) job {
		return job{name, d.Variables, []string{strings.Join(append(slices.Clone(pipeline.Default.BeforeScript), d.Script...), "\n")}}
	}
	return of("check", pipeline.Check), of("apply", pipeline.Apply)
}

// TestRecipes runs each recipe over the life of a project: the first version, a stale out/, and an upgrade.
func TestRecipes(t *testing.T) {
	built := build(t)
	for name, read := range map[string]func(*testing.T) (check, apply job){"GitHub": gitHub, "GitLab": gitLab} {
		t.Run(name, func(t *testing.T) {
			check, apply := read(t)
			r := newRepository(t, built)
			production := pgtest.DB(t)
			production.Exec(t, r.read("specs/app/schema.sql"))

			r.passes(check, pgtest.DB(t))
			r.passes(apply, production)
			r.version(production, "0.1.0")

			r.sluice("release")
			r.edit("specs/app/spec.yaml", "version: 0.1.0", "version: 0.2.0")
			r.edit("specs/app/spec.yaml", "max_retries: 3", "max_retries: 4")
			if out := r.fails(check, pgtest.DB(t)); !strings.Contains(out, "+++ generated/app/") {
				t.Errorf("a stale out/ fails without the difference:\n%.2000s", out)
			}
			r.sluice("generate")
			r.passes(check, pgtest.DB(t))
			r.passes(apply, production)
			r.version(production, "0.2.0")
			r.passes(apply, production)
		})
	}
}

// TestHooks runs the hooks as pre-commit does: without file names, in a repository's root; a hook fails if it changes files.
func TestHooks(t *testing.T) {
	var hooks []struct{ ID, Entry, Language, Files string }
	text, err := os.ReadFile("../../../.pre-commit-hooks.yaml")
	must(t, err)
	must(t, yaml.Unmarshal(text, &hooks))
	var config struct {
		Repos []struct{ Hooks []struct{ ID string } }
	}
	recipe(t, "repos", &config)
	entries := map[string]job{}
	for _, h := range hooks {
		entries[h.ID] = job{name: h.ID, steps: []string{h.Entry}}
		if h.Language != "golang" || !regexp.MustCompile(h.Files).MatchString("specs/app/spec.yaml") || !regexp.MustCompile(h.Files).MatchString("out/app/inboxes/orders.sql") {
			t.Errorf("hook %+v", h)
		}
	}
	for _, h := range config.Repos[0].Hooks {
		if _, known := entries[h.ID]; !known {
			t.Errorf("docs/ci.md names hook %s, which there is not", h.ID)
		}
	}
	r := newRepository(t, build(t))
	must(t, os.Symlink(r.built, filepath.Join(r.bin, "sluice"))) // pre-commit has built it
	fix, check := entries["sluice-generate"], entries["sluice-generate-check"]
	r.passes(check, nil)
	r.passes(fix, nil)
	if status := r.git("status", "--porcelain"); status != "" {
		t.Errorf("nothing changed, and the hook changes %s", status)
	}
	r.edit("specs/app/spec.yaml", "max_retries: 3", "max_retries: 4")
	r.fails(check, nil)
	r.passes(fix, nil)
	if status := r.git("status", "--porcelain"); !strings.Contains(status, "out/app/inboxes/") {
		t.Errorf("the hook changes %s", status)
	}
	r.passes(check, nil)
}

// repository is that of a user.
type repository struct {
	t        *testing.T
	dir, bin string // bin is where go install puts commands
	shims    string // that stand in for the system's
	built    string
}

func newRepository(t *testing.T, built string) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir(), bin: t.TempDir(), shims: t.TempDir(), built: built}
	r.shim("go", fmt.Sprintf(`[ "$1 ${2%%@*}" = "install github.com/pgsluice/sluice/cmd/sluice" ] && cp %s %s/sluice`, built, r.bin))
	r.shim("apt-get", `case $1 in update) ;; install) command -v psql >/dev/null ;; *) exit 1 ;; esac`)
	r.git("init", "-q")
	r.sluice("init")
	r.sluice("generate")
	r.git("add", "-A")
	r.git("-c", "user.name=me", "-c", "user.email=me@example.org", "commit", "-q", "-m", "first")
	return r
}

func (r *repository) shim(name, script string) {
	r.t.Helper()
	must(r.t, os.WriteFile(filepath.Join(r.shims, name), []byte("#!/bin/bash\n"+script+"\n"), 0o755))
}

// run runs the steps of a job, up to the first that fails, as both systems do: with bash, which ends at the first command that fails.
func (r *repository) run(j job, db *pgtest.Database) (string, error) {
	r.t.Helper()
	path := []string{r.shims, r.bin, filepath.Dir(pgtest.Server(r.t).Command("psql").Path), "/usr/bin", "/bin"}
	env := []string{"PATH=" + strings.Join(path, ":"), "HOME=" + r.dir}
	for name, value := range j.env {
		if name != "DATABASE_URL" {
			env = append(env, name+"="+value)
		}
	}
	switch {
	case db == nil:
	case strings.Contains(j.env["DATABASE_URL"], "postgres:postgres@"): // the service's superuser
		env = append(env, "DATABASE_URL="+db.SuperDSN())
	default:
		env = append(env, "DATABASE_URL="+db.DSN())
	}
	var out strings.Builder
	for _, step := range j.steps {
		cmd := exec.CommandContext(r.t.Context(), "bash", "-e", "-o", "pipefail", "-c", step)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.dir, env, &out, &out
		if err := cmd.Run(); err != nil {
			return out.String(), fmt.Errorf("%s: %w", step, err)
		}
	}
	return out.String(), nil
}

func (r *repository) passes(j job, db *pgtest.Database) {
	r.t.Helper()
	if len(j.steps) == 0 {
		r.t.Fatalf("%s has no steps", j.name)
	}
	if out, err := r.run(j, db); err != nil {
		r.t.Fatalf("%s: %v\n%s", j.name, err, out)
	}
}

func (r *repository) fails(j job, db *pgtest.Database) string {
	r.t.Helper()
	out, err := r.run(j, db)
	if err == nil {
		r.t.Fatalf("%s passes\n%s", j.name, out)
	}
	return out
}

// version checks what is installed.
func (r *repository) version(db *pgtest.Database, want string) {
	r.t.Helper()
	if got := pgtest.One[string](r.t, db, "select version from pgtrickle.pgt_extension"); got != want {
		r.t.Errorf("version %s is installed, want %s", got, want)
	}
}

func (r *repository) sluice(args ...string) {
	r.t.Helper()
	cmd := exec.Command(r.built, args...)
	cmd.Dir = r.dir
	output(r.t, cmd)
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	return output(r.t, cmd)
}

func (r *repository) read(path string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, path))
	must(r.t, err)
	return string(text)
}

func (r *repository) edit(path, from, to string) {
	r.t.Helper()
	text := r.read(path)
	if !strings.Contains(text, from) {
		r.t.Fatalf("%s lacks %s", path, from)
	}
	must(r.t, os.WriteFile(filepath.Join(r.dir, path), []byte(strings.Replace(text, from, to, 1)), 0o644))
}

// build makes the command, as a script that starts the test binary in its place.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sluice")
	must(t, os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", program.Variable, program.Path(t)), 0o755))
	return path
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
