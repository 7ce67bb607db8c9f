package artifact

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Files are generated files in memory: contents by slash-separated path below the output directory.
type Files map[string]string

// Paths lists the files in order.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Write stores the files below dir and removes files that an earlier run wrote for the same extensions and this one did not.
// It returns what changed, each path behind the word new, changed or removed.
func (f Files) Write(dir string) ([]string, error) {
	stale, err := f.stale(dir)
	if err != nil {
		return nil, err
	}
	for n, path := range stale {
		full := filepath.Join(dir, filepath.FromSlash(path))
		text, wanted := f[path]
		_, missing := os.Lstat(full)
		switch {
		case !wanted:
			stale[n] = "removed " + path
		case missing != nil:
			stale[n] = "new     " + path
		default:
			stale[n] = "changed " + path
		}
		if !wanted {
			err = os.Remove(full)
		} else if err = os.MkdirAll(filepath.Dir(full), 0o777); err == nil {
			err = write(full, text)
		}
		if err != nil {
			return nil, err
		}
	}
	return stale, nil
}

// write stores a file without a copy of its text in memory.
func write(path, text string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// Diff compares the files with those below dir; it returns a unified diff, empty if they agree.
func (f Files) Diff(dir string) (string, error) {
	stale, err := f.stale(dir)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, path := range stale {
		old, err := read(dir, path)
		if err != nil {
			return "", err
		}
		text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: difflib.SplitLines(old), B: difflib.SplitLines(withLineFeeds(f[path])),
			FromFile: "out/" + path, ToFile: "generated/" + path, Context: 3,
		})
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// ChangedLines are the lines that two texts do not share, those of the first behind a minus and those of the second behind a plus.
func ChangedLines(a, b string) (lines []string) {
	old, now := strings.Split(a, "\n"), strings.Split(b, "\n")
	sign := func(sign string, part []string) {
		for _, line := range part {
			lines = append(lines, strings.TrimRight(sign+" "+line, " \t\r"))
		}
	}
	for _, code := range difflib.NewMatcher(old, now).GetOpCodes() {
		if code.Tag != 'e' {
			sign("-", old[code.I1:code.I2])
			sign("+", now[code.J1:code.J2])
		}
	}
	return lines
}

// stale lists the paths whose content below dir differs, and files that should not exist.
func (f Files) stale(dir string) ([]string, error) {
	var paths []string
	for _, path := range f.Paths() {
		old, err := read(dir, path)
		if err != nil {
			return nil, err
		}
		if old != withLineFeeds(f[path]) {
			paths = append(paths, path)
		}
	}
	for _, extension := range f.extensions() {
		extra, err := f.extra(dir, extension)
		if err != nil {
			return nil, err
		}
		paths = append(paths, extra...)
	}
	return paths, nil
}

// foldersOf are the folders below an extension's that hold generated files and nothing else.
var foldersOf = []string{
	"extension", "migrations", "migrations/deploy", "migrations/revert", "migrations/verify", "jobs", "docs", "docs/inboxes", "docs/outboxes", "docs/groups", "docs/stream_tables", "tle",
	"dbt", "dbt/macros", "dbt/models", "dbt/tests/generic", "ops", "ops/runbooks", "ops/systemd",
	runtimeFolder, "inboxes", "outboxes", "groups", "stream_tables", "sources",
}

// extensions lists those that have files.
func (f Files) extensions() []string {
	names := map[string]bool{}
	for path := range f {
		name, _, _ := strings.Cut(path, "/")
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// extra lists the files below dir of an extension that were generated and are not wanted any more.
func (f Files) extra(dir, extension string) (paths []string, err error) {
	for _, file := range []string{wholeFile, rightsFile} {
		path := extension + "/" + file
		if _, wanted := f[path]; !wanted {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path))); err == nil {
				paths = append(paths, path)
			}
		}
	}
	for _, folder := range slices.Sorted(slices.Values(foldersOf)) {
		others, err := f.extraIn(dir, extension+"/"+folder)
		if err != nil {
			return nil, err
		}
		paths = append(paths, others...)
	}
	return paths, nil
}

func (f Files) extraIn(dir, folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(folder)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var paths []string
	for _, entry := range entries {
		path := folder + "/" + entry.Name()
		if _, wanted := f[path]; !wanted && entry.Type().IsRegular() {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// read returns the text of a file, with line ends as they are generated, whatever a checkout has made of them.
func read(dir, path string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return withLineFeeds(string(text)), err
}

func withLineFeeds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
