package house

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
)

// The files that people review hold what is installed, each statement once, and nothing else. The version is not in them. The specs are those of
// testdata/ordinary.txtar.
func TestReviewedIsInstalled(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/ordinary.txtar")
	if err != nil {
		t.Fatal(err)
	}
	ddl := string(archive.Files[0].Data)
	for _, file := range archive.Files[1:] {
		t.Run(strings.TrimSuffix(file.Name, ".yaml"), func(t *testing.T) {
			t.Parallel()
			extension := installed.Over(t, string(file.Data), ddl)
			files, err := extension.FilesOf(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var rest strings.Builder
			for _, path := range slices.Sorted(maps.Keys(files)) {
				_, text, _ := strings.Cut(files[path], "\n") // the title
				rest.WriteString(text)
			}
			reviewed, script := rest.String(), extension.Install(generator.Plain)
			for _, o := range extension.Objects {
				statement := o.Create(false)
				if strings.Count(reviewed, statement) != 1 || !strings.Contains(script, statement) {
					t.Errorf("%s is not once in the files and in the script", o.ID())
				}
				reviewed = strings.Replace(reviewed, statement, "", 1)
			}
			if other := strings.TrimSpace(reviewed); other != "" {
				t.Errorf("the files hold more:\n%s", other)
			}
			extension = installed.Over(t, strings.Replace(string(file.Data), "version: "+extension.Version, "version: 7.8.9", 1), ddl)
			if again, err := extension.FilesOf(nil, nil); err != nil || extension.Version != "7.8.9" || !maps.Equal(again, files) {
				t.Errorf("the version is in the files; %v", err)
			}
		})
	}
}
