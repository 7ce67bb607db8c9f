package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

const (
	oldestMajor    = 14 // the oldest server that generated code supports
	newestMajor    = 18
	preferredMajor = 15 // the one that Debian packages with pg_cron and plpgsql_check
)

// Install is a set of PostgreSQL binaries.
type Install struct {
	Bin     string // directory that holds postgres, initdb, perhaps psql
	Version string // as the binary says it, such as "15.18"
	Major   int
}

// Finder looks for PostgreSQL binaries. The zero value looks in silence.
type Finder struct {
	Progress io.Writer // where downloads, which take a while, are reported; may be nil
}

// Find is Finder{}.Find.
func Find(version string) (Install, error) {
	return Finder{}.Find(context.Background(), version)
}

// Find returns the binaries of a major version ("14" to "18"), or with "" the
// best that there are. Local ones come first, in this order: the directory that
// SLUICE_PG_BIN names, the one of postgres on PATH, Debian's places, and of
// those 15, for which Debian also packages the extensions that tests use, then
// the newest release. After these comes npm, whose packages are kept in a cache.
func (f Finder) Find(ctx context.Context, version string) (Install, error) {
	major, err := parseMajor(version)
	if err != nil {
		return Install{}, err
	}
	for _, in := range localInstalls() {
		if major == 0 || in.Major == major {
			return in, nil
		}
	}
	return f.download(ctx, major)
}

func (f Finder) download(ctx context.Context, major int) (Install, error) {
	wanted := major
	if wanted == 0 {
		wanted = newestMajor
	}
	if f.Progress == nil {
		f.Progress = io.Discard
	}
	in, err := f.fromNpm(ctx, wanted)
	if errors.Is(err, exec.ErrNotFound) {
		return Install{}, missing(major)
	}
	return in, err
}

func missing(major int) error {
	what := "PostgreSQL"
	if major != 0 {
		what = fmt.Sprintf("PostgreSQL %d", major)
	}
	return fmt.Errorf("%s not found: install it (on Debian: apt-get install postgresql), "+
		"or npm, or name its bin directory in SLUICE_PG_BIN", what)
}

func parseMajor(version string) (int, error) {
	if version == "" {
		return 0, nil
	}
	major, err := strconv.Atoi(version)
	if err != nil || major < oldestMajor || major > newestMajor {
		return 0, fmt.Errorf("PostgreSQL version %q: want one of %d to %d", version, oldestMajor, newestMajor)
	}
	return major, nil
}

// localInstalls lists what is on this machine, best first.
func localInstalls() []Install {
	var dirs []string
	if dir := os.Getenv("SLUICE_PG_BIN"); dir != "" {
		dirs = append(dirs, dir)
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	return append(inspectAll(dirs), debianInstalls()...)
}

func debianInstalls() []Install {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	found := inspectAll(dirs)
	sort.SliceStable(found, func(i, j int) bool { return found[i].rank() > found[j].rank() })
	return found
}

// rank orders Debian's versions: the preferred one, then newest first.
func (in Install) rank() int {
	if in.Major == preferredMajor {
		return newestMajor + 1
	}
	return in.Major
}

func inspectAll(dirs []string) []Install {
	var found []Install
	for _, dir := range dirs {
		if in, err := inspect(dir); err == nil {
			found = append(found, in)
		}
	}
	return found
}

// releaseVersion is what a released server says; betas say 19beta1.
var releaseVersion = regexp.MustCompile(`\(PostgreSQL\) ((\d+)\.\d+)`)

// inspect asks the binaries in dir for their version.
func inspect(dir string) (Install, error) {
	postgres, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
	if err != nil {
		return Install{}, err
	}
	out, err := exec.Command(postgres, "--version").Output()
	if err != nil {
		return Install{}, fmt.Errorf("%s --version: %w", postgres, err)
	}
	m := releaseVersion.FindStringSubmatch(string(out))
	if m == nil {
		return Install{}, fmt.Errorf("%s is no released PostgreSQL: %s", postgres, strings.TrimSpace(string(out)))
	}
	major, err := strconv.Atoi(m[2])
	if err != nil || major < oldestMajor || major > newestMajor {
		return Install{}, fmt.Errorf("%s is PostgreSQL %s: want %d to %d", postgres, m[1], oldestMajor, newestMajor)
	}
	return Install{Bin: filepath.Dir(postgres), Version: m[1], Major: major}, nil
}

// HasLibrary reports whether a loadable module such as "pg_cron" is installed.
func (in Install) HasLibrary(name string) bool {
	for _, dir := range in.libraryDirs() {
		for _, ext := range []string{".so", ".dylib"} {
			if _, err := os.Stat(filepath.Join(dir, name+ext)); err == nil {
				return true
			}
		}
	}
	return false
}

// libraryDirs asks pg_config, which the npm packages lack, and else guesses.
func (in Install) libraryDirs() []string {
	out, err := exec.Command(filepath.Join(in.Bin, "pg_config"), "--pkglibdir").Output()
	if err == nil {
		return []string{strings.TrimSpace(string(out))}
	}
	lib := filepath.Join(filepath.Dir(in.Bin), "lib")
	return []string{lib, filepath.Join(lib, "postgresql")}
}
