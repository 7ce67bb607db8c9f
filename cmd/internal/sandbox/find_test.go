package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// fakeInstall makes a directory with a postgres that only knows its version.
func fakeInstall(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
	if err := os.WriteFile(filepath.Join(dir, "postgres"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFindTakesWhatTheUserNamesFirst(t *testing.T) {
	t.Setenv("SLUICE_PG_BIN", fakeInstall(t, "17.3"))
	t.Setenv("PATH", fakeInstall(t, "16.1")+":"+os.Getenv("PATH"))
	for version, want := range map[string]string{"": "17.3", "17": "17.3", "16": "16.1"} {
		in, err := Find(version)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "version "+version, in.Version, want)
	}
}

func TestFindPassesOverWhatIsNoRelease(t *testing.T) {
	for _, version := range []string{"18beta1", "13.2", "nonsense"} {
		if in, err := inspect(fakeInstall(t, version)); err == nil {
			t.Errorf("%s found: %v", version, in)
		}
	}
}

func TestDebianPrefers15ThenTheNewest(t *testing.T) {
	order := []Install{{Major: 15}, {Major: 18}, {Major: 16}}
	for i := 1; i < len(order); i++ {
		if order[i-1].rank() <= order[i].rank() {
			t.Errorf("%d is not before %d", order[i-1].Major, order[i].Major)
		}
	}
}

func TestFindRefusesOtherVersions(t *testing.T) {
	_, err := Find("13")
	expect(t, "error", err.Error(), `PostgreSQL version "13": want one of 14 to 18`)
}

func TestNothingFoundSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	t.Setenv("SLUICE_CACHE_DIR", t.TempDir())
	t.Setenv("SLUICE_PG_BIN", "")
	_, err := Finder{}.download(t.Context(), 18)
	expect(t, "error", err.Error(), "PostgreSQL 18 not found: install it (on Debian: apt-get install postgresql), "+
		"or npm, or name its bin directory in SLUICE_PG_BIN")
}

func TestVersionsOfNpmCompareByNumber(t *testing.T) {
	for _, pair := range [][2]string{
		{"18.9.0-beta.17", "18.10.0-beta.17"},
		{"18.4.0-beta.9", "18.4.0-beta.17"},
	} {
		if !older(pair[0], pair[1]) || older(pair[1], pair[0]) {
			t.Errorf("%s is not older than %s", pair[0], pair[1])
		}
	}
}
