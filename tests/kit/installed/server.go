package installed

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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

// Relocate copies binaries to where files of extensions may be put beside them. A server finds its share directory by
// its own place, relative to it as it was built.
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
	dirs := []string{filepath.Dir(in.Bin)} // bin, lib and share are below
	if share := pgConfig(in, "--sharedir"); share != "" && !strings.HasPrefix(share, dirs[0]+"/") {
		dirs = append(dirs, share)
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("cp", "-aL", dir, filepath.Join(root, dir)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	in.Bin = filepath.Join(root, in.Bin)
	return in
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
