// Package dbt runs real dbt with the generated packages against a live server.
package dbt

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// program is the path of dbt, which the first call installs.
var program = sync.OnceValues(func() (string, error) {
	command := exec.Command("../../../.ci/dbt")
	var said bytes.Buffer
	command.Stderr = &said
	path, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s", strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(path)), nil
})

// project is a dbt project with generated packages, for one database, and a process that runs dbt in it.
type project struct {
	t        *testing.T
	dir      string
	commands io.Writer
	output   *bufio.Reader
}

// newProject copies testdata/project and points it to a database and to the packages of extensions.
func newProject(t *testing.T, db *pgtest.Database, extensions ...*generator.Extension) *project {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: t.TempDir()}
	if err := os.CopyFS(p.dir, os.DirFS("testdata/project")); err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(db.DSN())
	if err != nil {
		t.Fatal(err)
	}
	p.write("profiles.yml", fmt.Sprintf(`consumer:
  target: test
  outputs:
    test: {type: postgres, host: %q, port: %d, user: %q, password: none, dbname: %q, schema: public, threads: 2}
`, config.Host, config.Port, config.User, config.Database))
	packages := "packages:\n"
	for _, e := range extensions {
		p.generate(e)
		packages += "  - local: out/" + e.Name + "/dbt\n"
	}
	p.write("packages.yml", packages)
	p.start(filepath.Join(filepath.Dir(path), "python"))
	return p
}

// start starts the process that runs dbt until the test ends.
func (p *project) start(python string) {
	p.t.Helper()
	driver, err := filepath.Abs("testdata/driver.py")
	if err != nil {
		p.t.Fatal(err)
	}
	command := exec.Command(python, driver)
	command.Dir = p.dir
	command.Env = append(os.Environ(), "DBT_PROFILES_DIR="+p.dir, "DBT_SEND_ANONYMOUS_USAGE_STATS=false", "DBT_VERSION_CHECK=false")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.commands, p.output = in, bufio.NewReader(out)
	p.t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			p.t.Error(err)
		}
	})
}

func (p *project) write(path, text string) {
	p.t.Helper()
	full := filepath.Join(p.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// generate writes the artifacts of an extension into the project, which dbt deps links to.
func (p *project) generate(e *generator.Extension, released ...upgrade.Manifest) {
	p.t.Helper()
	files, err := e.FilesOf([]string{spec.ArtifactDBT}, released)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := files.Write(filepath.Join(p.dir, "out")); err != nil {
		p.t.Fatal(err)
	}
}

// run runs dbt and expects that it succeeds.
func (p *project) run(args ...string) string {
	p.t.Helper()
	out, err := p.dbt(args...)
	if err != nil {
		p.t.Fatalf("dbt %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// fails runs dbt and expects that it fails with all these texts.
func (p *project) fails(args []string, texts ...string) {
	p.t.Helper()
	out, err := p.dbt(args...)
	if err == nil {
		p.t.Fatalf("dbt %s succeeds\n%s", strings.Join(args, " "), out)
	}
	for _, text := range texts {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), text) {
			p.t.Errorf("dbt %s does not say %q\n%s", strings.Join(args, " "), text, out)
		}
	}
}

func (p *project) dbt(args ...string) (string, error) {
	p.t.Helper()
	line, err := json.Marshal(append([]string{"--no-use-colors"}, args...))
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.commands.Write(append(line, '\n')); err != nil {
		p.t.Fatal(err)
	}
	var said strings.Builder
	for {
		line, err := p.output.ReadString('\n')
		switch {
		case err != nil:
			p.t.Fatalf("dbt %s ended: %v\n%s", strings.Join(args, " "), err, said.String())
		case line == "status 0\n":
			return said.String(), nil
		case line == "status 1\n":
			return said.String(), errFailed
		}
		said.WriteString(line)
	}
}

// errFailed is that of a command of dbt that did not succeed.
var errFailed = errors.New("dbt failed")

// operation are the arguments that run a macro.
func operation(macro, args string) []string { return []string{"run-operation", macro, "--args", args} }
