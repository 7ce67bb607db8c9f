package house

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

// TestReviewedIsInstalled: the files that people review hold what is installed, each statement once, and nothing else, and no version; but for verbs that name all inboxes or outboxes, which
// are in none. The specs are those of
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
				statement := extension.Reviewed(o)
				if artifact.Dispatches(o) {
					if strings.Contains(reviewed, statement) || !strings.Contains(script, o.Create(false)) {
						t.Errorf("%s is in a file, or not in the script", o.ID())
					}
					continue
				}
				if strings.Count(reviewed, statement) != 1 || !strings.Contains(script, o.Create(false)) {
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

// TestOneRuntime: the files of the runtime are the same for all specs of testdata/ordinary.txtar that have their module, and for any names and version. Only
// the script by which functions create inboxes, a text in imperative.sql, has the names of its extension.
func TestOneRuntime(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/ordinary.txtar")
	if err != nil {
		t.Fatal(err)
	}
	texts, of, compared := map[string]string{}, map[string]string{}, 0
	for _, file := range archive.Files[1:] {
		spec := string(file.Data)
		for _, text := range []string{spec, strings.Replace(spec, "extension: {name: shop, version: 0.1.0", "extension: {name: Other, schema: Odd s, version: 1.2.3", 1)} {
			extension := installed.Over(t, text, string(archive.Files[0].Data))
			compareRuntime(t, file.Name, extension)
			files, err := extension.FilesOf(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for path, text := range files {
				_, name, runtime := strings.Cut(path, "/runtime/")
				switch {
				case !runtime || name == "imperative.sql":
				case texts[name] == "":
					texts[name], of[name] = text, file.Name
				case texts[name] != text:
					golden.CompareText(t, "runtime/"+name+" of "+file.Name+", beside that of "+of[name], text, texts[name])
				default:
					compared++
				}
			}
		}
	}
	if len(texts) != 5 || compared < 100 {
		t.Errorf("%d files were compared with the first of %v", compared, of)
	}
}

// compareRuntime compares the functions of the runtime with those that a status takes for the original.
func compareRuntime(t *testing.T, of string, extension *generator.Extension) {
	t.Helper()
	original, err := generator.RuntimeFunctions(extension.Name, extension.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for module, functions := range extension.RuntimeFunctions() {
		for signature, text := range functions {
			if original[module][signature] != text {
				t.Errorf("%s: %s of module %s is another one than that of a spec with all modules", of, signature, module)
			}
		}
	}
}

// TestMergesWithoutConflict adds things to a spec: no file changes but those of their own, so that branches that each add something merge, into what the
// merged spec generates. A stream table that reads other columns of a table changes that table's file, too.
func TestMergesWithoutConflict(t *testing.T) {
	const base = `
version: 1
extension: {name: shop, version: 0.1.0}
schema: [schema.sql]
inboxes:
  - {name: letters}
outboxes:
  - {name: events}
consumer_groups:
  - {name: shipping, outbox: events}
stream_tables:
  - {name: public.per_customer, query: "SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id"}
  - {name: public.most, query: "SELECT max(n) AS n FROM public.per_customer"}
`
	const ddl = "create table orders (id bigint primary key, customer_id bigint, amount numeric);"
	filesOf := func(text string) generator.Files {
		files, err := installed.Over(t, text, ddl).FilesOf([]string{"jobs", "docs"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	before := filesOf(base)
	for _, added := range []string{
		"inboxes:\n  - {name: bills}\n  - {name: letters}", "outboxes:\n  - {name: accounts}\n  - {name: events}",
		"consumer_groups:\n  - {name: a, outbox: events}\n  - {name: shipping, outbox: events}",
		"stream_tables:\n  - {name: public.a, query: \"SELECT DISTINCT customer_id FROM orders\"}\n  - {name: public.per_customer,",
		"stream_tables:\n  - {name: public.a, query: \"SELECT n FROM public.per_customer\"}\n  - {name: public.per_customer,",
	} {
		part, _, _ := strings.Cut(added, ":")
		_, last, _ := strings.Cut(added, "\n")
		last = last[strings.LastIndex(last, "\n")+1:]
		after := filesOf(strings.Replace(base, part+":\n"+last, added, 1))
		own := 0
		for path, text := range after {
			if was, there := before[path]; !there {
				own++
			} else if was != text {
				golden.CompareText(t, path+", with "+added, text, was)
			}
		}
		if own != 2 {
			t.Errorf("%d files are new, not that of the object and its page: %s", own, added)
		}
	}
}

// portable is a path that every system has: in lower case but for what is encoded, and nothing hidden.
var portable = regexp.MustCompile(`^odd(/([a-z0-9_]|%[0-9A-F]{2})([a-z0-9_.-]|%[0-9A-F]{2})*){1,2}$`)

// Names come out as names of files that every system has, whatever is in them, and as titles of one line.
func TestFilesOfOddNames(t *testing.T) {
	const spec = `
version: 1
extension: {name: odd, version: 1.0.0}
schema: [schema.sql]
stream_tables:
  - name: public."../Up"
    query: SELECT id FROM "X ""y"""
  - name: public."../up, b"
    query: SELECT id FROM "A/日"
`
	extension := installed.Over(t, spec, "create table \"A/日\" (id int primary key); create table \"X \"\"y\"\"\" (id int primary key);")
	files, err := extension.FilesOf(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		if !portable.MatchString(path) {
			t.Errorf("file %s", path)
		}
		if lines := strings.SplitN(text, "\n", 3); !strings.HasPrefix(lines[0], "-- ") || lines[1] != "" {
			t.Errorf("%s begins\n%.200s", path, text)
		}
	}
	if len(files) != 8 {
		t.Errorf("%d files: %v", len(files), files.Paths())
	}
}

// TestManifestsOfOrdinarySpecs has each spec of testdata/ordinary.txtar be a release after the next one: by what changed comes the same manifest again.
func TestManifestsOfOrdinarySpecs(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/ordinary.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []upgrade.Manifest
	for _, file := range archive.Files[1:] {
		m, err := upgrade.Decode([]byte(installed.Over(t, string(file.Data), string(archive.Files[0].Data)).Manifest().Encode()), nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	for n, m := range all {
		before := all[(n+1)%len(all)]
		got, err := upgrade.Decode([]byte(m.EncodeOn(before)), &before)
		if err != nil || got.Encode() != m.Encode() {
			t.Fatalf("a release of %v after one of %v is another; %v", m.Named, before.Named, err)
		}
	}
}
