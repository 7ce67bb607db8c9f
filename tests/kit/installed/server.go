package installed

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// Start starts a server of the test's own, on which the owner may log in.
func Start(t *testing.T, install commandtest.Install) *commandtest.Server {
	t.Helper()
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Install: install})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	if _, err := pgtest.Connect(t, server.DSN("postgres")).Exec(t.Context(), "create role "+pgtest.Owner+" login"); err != nil {
		t.Fatal(err)
	}
	return server
}

// Relocate makes a place where files of extensions may be put beside the binaries. A server finds its libraries and its share directory by the place of
// its own program, so the programs that look are copied. All else is links, as hundreds of new files take a second on ext4.
func Relocate(t *testing.T, in commandtest.Install) commandtest.Install {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "sluice-install-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	to := in
	to.Bin = filepath.Join(root, in.Bin)
	for _, from := range []string{filepath.Dir(in.Bin), filepath.Dir(Directory(t, in))} { // bin, lib, and perhaps share; share
		if err := link(from, filepath.Join(root, from), in.Bin, Directory(t, in)); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"postgres", "initdb", "pg_config"} {
		path := filepath.Join(in.Bin, program)
		if _, err := os.Stat(path); err != nil { // packages of npm have no pg_config
			continue
		}
		if out, err := exec.Command("cp", "-aL", "--remove-destination", path, to.Bin).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return to
}

// link fills a directory with links to what another one holds. The directories on the way to those in which files are replaced are made, not linked.
func link(from, to string, replaced ...string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, entry := range entries {
		from, to := filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())
		if slices.ContainsFunc(replaced, func(dir string) bool { return strings.HasPrefix(dir+"/", from+"/") }) {
			err = link(from, to, replaced...)
		} else if err = os.Symlink(from, to); errors.Is(err, fs.ErrExist) { // share is below the directory of bin
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func pgConfig(in commandtest.Install, what string) string {
	out, _ := exec.Command(filepath.Join(in.Bin, "pg_config"), what).Output()
	return strings.TrimSpace(string(out))
}

// PutFiles does what make install does with the files of an extension, once its version is released. The script that installs that version at once is among
// them.
func PutFiles(t *testing.T, in commandtest.Install, e *generator.Extension, released ...upgrade.Manifest) {
	t.Helper()
	directory := Directory(t, in)
	files, err := e.FilesOf([]string{"extension"}, e.Releasing(released))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := e.Assembled()
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, whole)
	for path, text := range files {
		if name := filepath.Base(path); strings.HasPrefix(name, e.Name+"--") || strings.HasSuffix(name, ".control") {
			if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Directory is where a server looks for the files of extensions.
func Directory(t *testing.T, in commandtest.Install) string {
	t.Helper()
	for _, dir := range []string{pgConfig(in, "--sharedir"), filepath.Join(filepath.Dir(in.Bin), "share"), filepath.Join(filepath.Dir(in.Bin), "share", "postgresql")} {
		if _, err := os.Stat(filepath.Join(dir, "extension", "plpgsql.control")); err == nil {
			return filepath.Join(dir, "extension")
		}
	}
	t.Fatal("no directory of extensions")
	return ""
}
