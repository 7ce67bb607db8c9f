package cli

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/migrations"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// softMemoryLimit is what memory may grow to before garbage is collected more often: what hundreds of objects come to is text that is soon garbage.
const softMemoryLimit = 96 << 20

func newGenerate() *cobra.Command {
	var check, dryRun bool
	var assemble string
	command := &cobra.Command{
		Use:   "generate",
		Short: "Generates the artifacts of the specs",
		Long: "Generates the artifacts of the specs: a file per object, and what artifacts lists. Migrations and files of extensions are written by release. With --dsn, what the DDL files lack is looked up in that database, and it is asked about each query: what it finds wrong\n" +
			"is an error at its place in the spec. It is not changed. DATABASE_URL alone does not do that: what is generated then follows from the files.",
		Example: `  sluice generate
  sluice generate --file specs/shop.yaml --out build
  sluice generate --check                     # in CI: are the committed files what the spec says?
  sluice generate --migrations flyway
  sluice generate --assemble build            # all of a version as one script`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			debug.SetMemoryLimit(softMemoryLimit)
			compile := generate
			if cmd.Flags().Changed("dsn") { // DATABASE_URL alone does not make it depend on a database
				compile = generateAsking
			}
			extensions, err := compile(cmd)
			if err != nil {
				return err
			}
			if assemble != "" {
				return writeAssembled(cmd, extensions, assemble)
			}
			files, err := filesOf(cmd, extensions, false)
			if err != nil {
				return err
			}
			switch {
			case check:
				return checkFiles(cmd, files)
			case dryRun:
				return printFiles(cmd, files)
			default:
				return writeFiles(cmd, files)
			}
		}),
	}
	command.Flags().BoolVar(&check, "check", false, "write nothing; exit 1 with a diff if the artifacts are stale")
	command.Flags().BoolVar(&dryRun, "dry-run", false, "write nothing; print the artifacts")
	command.Flags().StringVar(&assemble, "assemble", "", "write nothing to out; write to `directory` the scripts that install this version at once, released or not: plain, and as an extension")
	withFormat(command)
	command.MarkFlagsMutuallyExclusive("check", "dry-run", "assemble")
	return command
}

// withFormat adds the flag that filesOf reads.
func withFormat(command *cobra.Command) {
	command.Flags().String("migrations", "",
		"lay out migrations for a `tool`, whatever artifacts in the spec says: plain, goose, golang-migrate, flyway, dbmate or sqitch")
}

// filesOf are the artifacts of all extensions, with upgrades from the versions that were released to the artifact directory; as they are once these versions
// are released, too, if releases says so.
func filesOf(cmd *cobra.Command, extensions []*generator.Extension, releases bool) (generator.Files, error) {
	layout := option(cmd, "migrations")
	if layout != "" {
		format, err := migrations.ParseFormat(layout)
		if err != nil {
			return nil, process.Fail(process.Usage, fmt.Sprintf("sluice: --migrations: %v\n", err))
		}
		layout = format.Artifact()
	}
	all := generator.Files{}
	for _, e := range extensions {
		if err := artifact.RequireRuntime(option(cmd, "out"), e.Name); err != nil {
			return nil, process.Fail(process.Input, fmt.Sprintf("sluice: %v; nothing was written\n", err))
		}
		released, err := artifact.Releases(option(cmd, "out"), e.Name)
		if err != nil {
			return nil, err
		}
		if releases {
			released = e.Releasing(released)
		}
		artifacts := e.Artifacts
		if layout != "" {
			artifacts = append(slices.DeleteFunc(slices.Clone(artifacts), spec.IsMigrations), layout)
		}
		files, err := e.FilesOf(artifacts, released)
		if err != nil {
			return nil, asReleased(err)
		}
		maps.Copy(all, files)
	}
	return all, nil
}

// asReleased says what to do about a version that does not go with those that are released.
func asReleased(err error) error {
	if changed, passed := (artifact.ErrReleased{}), (artifact.ErrPassed{}); errors.As(err, &changed) || errors.As(err, &passed) {
		return process.Fail(process.Input, fmt.Sprintf("sluice: %v; nothing was written\nhint: raise extension.version in the spec\n", err))
	}
	return err
}

// writeAssembled writes the scripts that install each extension at once to a directory.
func writeAssembled(cmd *cobra.Command, extensions []*generator.Extension, dir string) error {
	all := generator.Files{}
	for _, e := range extensions {
		files, err := e.Assembled()
		if err != nil {
			return process.Fail(process.Input, fmt.Sprintf("sluice: %v\n", err))
		}
		maps.Copy(all, files)
	}
	return writeBelow(cmd, dir, all)
}

// writeBelow writes files to a directory, whatever else is there.
func writeBelow(cmd *cobra.Command, dir string, files generator.Files) error {
	for _, name := range files.Paths() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o666); err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(), path)
	}
	return nil
}

func checkFiles(cmd *cobra.Command, files generator.Files) error {
	diff, err := files.Diff(option(cmd, "out"))
	if err != nil || diff == "" {
		return err
	}
	fmt.Fprint(cmd.OutOrStdout(), diff)
	return process.Fail(process.Input, fmt.Sprintf("sluice: %s is stale; run \"sluice generate\"\n", option(cmd, "out")))
}

func printFiles(cmd *cobra.Command, files generator.Files) error {
	for _, path := range files.Paths() {
		fmt.Fprintf(cmd.OutOrStdout(), "==> %s <==\n%s\n", path, files[path])
	}
	return nil
}

func writeFiles(cmd *cobra.Command, files generator.Files) error {
	changed, err := files.Write(option(cmd, "out"))
	if err != nil {
		return err
	}
	for _, path := range changed {
		fmt.Fprintln(cmd.ErrOrStderr(), path)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s, %d changed\n", diag.Count(len(files), "file"), len(changed))
	return nil
}
