package installed

import (
	"strings"
	"testing"
)

// Files are the files that the spec of a path generates, by their names below the extension's folder.
func Files(t testing.TB, path string) map[string]string {
	t.Helper()
	extension := Load(t, path)
	files, err := extension.Files(nil)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for path, text := range files {
		_, rest, _ := strings.Cut(path, "/")
		named[rest] = text
	}
	return named
}

// Migration is the script of a kind among them: up, down or another one of the target.
func Migration(t testing.TB, path, kind string) string {
	t.Helper()
	for file, text := range Files(t, path) {
		if strings.HasSuffix(file, "."+kind+".sql") {
			return text
		}
	}
	t.Fatalf("%s has no script %s", path, kind)
	return ""
}
