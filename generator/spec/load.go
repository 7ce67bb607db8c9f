package spec

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/pgsluice/sluice/ivm/diag"
)

// Load reads and validates what path names: a file, a directory whose YAML files are one spec, or a directory of such directories,
// each a spec of its own. The specs are fit for use only if the list is empty; otherwise it holds every problem that was found.
func Load(path string) ([]*Spec, *diag.List) {
	return loadAll(path, (*Spec).readFiles)
}

// LoadQueries is Load without the DDL files, which need not exist yet.
func LoadQueries(path string) ([]*Spec, *diag.List) {
	return loadAll(path, (*Spec).readQueries)
}

func loadAll(path string, readFiles func(*Spec, *diag.List)) ([]*Spec, *diag.List) {
	errs := &diag.List{}
	var specs []*Spec
	for _, files := range specFiles(path, errs) {
		specs = append(specs, loadOne(files, readFiles, errs))
	}
	checkDistinctExtensions(specs, errs)
	return specs, errs
}

// specFiles returns the files of each spec below path.
func specFiles(path string, errs *diag.List) [][]string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		errs.Add(unreadable(diag.Pos{File: path}, path, err))
		return nil
	case !info.IsDir():
		return [][]string{{path}}
	}
	if files := yamlFiles(path); len(files) > 0 {
		return [][]string{files}
	}
	var specs [][]string
	for _, entry := range readDir(path) {
		files := yamlFiles(filepath.Join(path, entry.Name()))
		if !strings.HasPrefix(entry.Name(), ".") && len(files) > 0 {
			specs = append(specs, files)
		}
	}
	if specs == nil {
		errs.Add(noSpecs(path))
	}
	return specs
}

// yamlFiles lists the YAML files of a directory in file-name order.
func yamlFiles(dir string) []string {
	var files []string
	for _, entry := range readDir(dir) {
		extension := filepath.Ext(entry.Name())
		hidden := strings.HasPrefix(entry.Name(), ".")
		if !entry.IsDir() && !hidden && (extension == ".yaml" || extension == ".yml") {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	return files
}

// readDir lists a directory by name; what cannot be listed is empty.
func readDir(dir string) []fs.DirEntry {
	entries, _ := os.ReadDir(dir)
	return entries
}

func loadOne(files []string, readFiles func(*Spec, *diag.List), errs *diag.List) *Spec {
	merged := &Spec{Place: Place{At: diag.Pos{File: files[0], Line: 1, Col: 1}}, Files: files}
	setDefaults(reflect.ValueOf(merged).Elem())
	readable := true
	for _, file := range files {
		part, ok := parseFile(file, errs)
		if ok {
			merged.merge(part, errs)
		}
		readable = readable && ok
	}
	if readable && !merged.Given("extension") && !merged.meant["extension"] {
		errs.Add(missingField(merged.At, "extension", "the spec"))
	}
	merged.partial = !readable
	readFiles(merged, errs)
	merged.complete()
	merged.validate(errs)
	return merged
}
