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

	"github.com/pgsluice/sluice/generator/docs"
	"github.com/pgsluice/sluice/generator/migrations"
	"github.com/pgsluice/sluice/generator/parallel"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// Files are artifacts in memory: contents by slash-separated path below the output directory.
type Files map[string]string

// Files lays out the artifacts that the spec lists, below the name of the extension, with the scripts that lead to it from the released versions.
func (e *Extension) Files(released []upgrade.Manifest) (Files, error) {
	return e.FilesOf(e.Artifacts, released)
}

// FilesOf is Files of the artifacts named, as the spec spells them.
func (e *Extension) FilesOf(artifacts []string, released []upgrade.Manifest) (Files, error) {
	if err := e.Follows(released); err != nil {
		return nil, err
	}
	chain := e.chain(released)
	leaps, err := leaps(chain)
	if err != nil {
		return nil, err
	}
	type written struct {
		files Files
		err   error
	}
	all := parallel.Map(artifacts, func(artifact string) written {
		files, err := e.artifact(artifact, chain, leaps)
		return written{files, err}
	})
	files := Files{}
	for _, one := range all {
		if one.err != nil {
			return nil, one.err
		}
		maps.Copy(files, one.files)
	}
	return files, nil
}

// artifact writes one of the artifacts, which know nothing of each other.
func (e *Extension) artifact(name string, chain []upgrade.Manifest, leaps []leap) (Files, error) {
	switch name {
	case spec.ArtifactExtension:
		files := e.extensionFiles()
		maps.Copy(files, e.upgradeFiles(leaps))
		return files, nil
	case spec.ArtifactMigrations:
		return e.plainMigrations(leaps), nil
	case spec.ArtifactJobs:
		return e.jobFiles(), nil
	case spec.ArtifactDocs:
		return e.reference()
	case spec.ArtifactTLE:
		return e.tleFiles(leaps), nil
	case spec.ArtifactDBT:
		return e.dbtFiles(leaps), nil
	}
	return e.migrationFiles(migrations.Format(name), chain, leaps)
}

// extensionFiles are the control file, the script that installs this version, and the Makefile.
func (e *Extension) extensionFiles() Files {
	extension := e.Name + "/extension/"
	return Files{
		extension + e.Name + ".control":                e.control(),
		extension + e.Name + "--" + e.Version + ".sql": e.extensionScript(),
		extension + "Makefile":                         e.makefile(),
	}
}

// reference is the documentation of what was generated.
func (e *Extension) reference() (Files, error) {
	pages, err := docs.Files(docs.Extension{Extension: e.view, Objects: e.described()})
	files := Files{}
	for name, text := range pages {
		files[e.Name+"/docs/"+name] = text
	}
	return files, err
}

// Paths lists the files in order.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Write stores the files below dir and removes files that an earlier run wrote for the same extensions and this one did not.
// It returns the paths that changed.
func (f Files) Write(dir string) ([]string, error) {
	stale, err := f.stale(dir)
	if err != nil {
		return nil, err
	}
	for _, path := range stale {
		full := filepath.Join(dir, filepath.FromSlash(path))
		text, wanted := f[path]
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
			A: difflib.SplitLines(old), B: difflib.SplitLines(f[path]),
			FromFile: "out/" + path, ToFile: "generated/" + path, Context: 3,
		})
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// stale lists the paths whose content below dir is not what it should be, including files that should not be there.
func (f Files) stale(dir string) ([]string, error) {
	var paths []string
	for _, path := range f.Paths() {
		old, err := read(dir, path)
		if err != nil {
			return nil, err
		}
		if old != f[path] {
			paths = append(paths, path)
		}
	}
	for _, folder := range f.folders() {
		extra, err := f.extra(dir, folder)
		if err != nil {
			return nil, err
		}
		paths = append(paths, extra...)
	}
	return paths, nil
}

// foldersOf are the folders below an extension's that hold generated files and nothing else.
var foldersOf = []string{
	"extension", "migrations", "migrations/deploy", "migrations/revert", "migrations/verify", "jobs", "docs", "tle",
	"dbt", "dbt/macros", "dbt/models", "dbt/tests/generic",
}

// folders lists all of them, also those of artifacts that the spec does not list any more.
func (f Files) folders() []string {
	folders := map[string]bool{}
	for path := range f {
		name, _, _ := strings.Cut(path, "/")
		for _, folder := range foldersOf {
			folders[name+"/"+folder] = true
		}
	}
	return slices.Sorted(maps.Keys(folders))
}

func (f Files) extra(dir, folder string) ([]string, error) {
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

func read(dir, path string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}
