package sandbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// archives are the versions that the library knows an archive of.
var archives = map[int]embeddedpostgres.PostgresVersion{
	14: embeddedpostgres.V14,
	15: embeddedpostgres.V15,
	16: embeddedpostgres.V16,
	17: embeddedpostgres.V17,
	18: embeddedpostgres.V18,
}

// fromArchive returns the binaries of a major version from an archive in the
// repository of embedded-postgres, or in the one at the address that
// SLUICE_PG_REPOSITORY gives, from the cache if they are there.
func (f Finder) fromArchive(major int) (Install, error) {
	cache, err := cacheDir()
	if err != nil {
		return Install{}, err
	}
	dir := filepath.Join(cache, "archive", fmt.Sprint(major))
	if in, err := inspect(filepath.Join(dir, "bin")); err == nil {
		return in, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Install{}, err
	}
	fmt.Fprintf(f.Progress, "downloading PostgreSQL %s\n", archives[major])
	err = locked(dir+".lock", func() error { return unpackArchive(dir, major) })
	if err != nil {
		return Install{}, err
	}
	return inspect(filepath.Join(dir, "bin"))
}

// unpackArchive downloads into dir. The library has no call that only
// downloads: it downloads, unpacks and starts. So it gets a data directory that
// it takes for one in use and that no server can start in; it unpacks, fails to
// start, and what counts is whether the binaries are there.
func unpackArchive(dir string, major int) error {
	work, err := os.MkdirTemp(dir, "work")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	config, err := archiveConfig(dir, work, major)
	if err != nil {
		return err
	}
	err = embeddedpostgres.NewDatabase(config).Start()
	if _, missing := os.Stat(filepath.Join(dir, "bin", "postgres")); missing == nil {
		return nil
	}
	return fmt.Errorf("downloading PostgreSQL %d: %w (SLUICE_PG_REPOSITORY names another repository)", major, err)
}

func archiveConfig(dir, work string, major int) (embeddedpostgres.Config, error) {
	data := filepath.Join(work, "data")
	config := embeddedpostgres.DefaultConfig().
		Version(archives[major]).
		BinariesPath(dir).
		CachePath(filepath.Join(work, "cache")).
		RuntimePath(filepath.Join(work, "runtime")).
		DataPath(data).
		Logger(io.Discard)
	if url := os.Getenv("SLUICE_PG_REPOSITORY"); url != "" {
		config = config.BinaryRepositoryURL(url)
	}
	port, err := freePort()
	if err != nil {
		return config, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return config, err
	}
	version := filepath.Join(data, "PG_VERSION")
	return config.Port(uint32(port)), os.WriteFile(version, fmt.Appendf(nil, "%d\n", major), 0o600)
}
