package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
)

func newDiff() *cobra.Command {
	var from string
	var asJSON, verbose bool
	command := &cobra.Command{
		Use:   "diff",
		Short: "Shows what an upgrade to the current spec changes, what it locks, and what data it loses",
		Long: "Shows what an upgrade from a released version to the current spec changes, what it locks, for how long in kind, and what data it loses, for each thing that the\n" +
			"spec names.\n\n" +
			"With --dsn it looks at a database instead: what was changed there by hand, and what sluice apply would do. It then exits 1 if there is any\n" +
			"difference. It changes nothing: what it makes to compare with is rolled back. DATABASE_URL alone does not make it do so.",
		Example: `  sluice diff                                # what the next release changes
  sluice diff --from 1.0.0 --verbose
  sluice diff --dsn postgres://localhost/shop # what apply would change there`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			e, _, err := generateFor(cmd)
			if err != nil {
				return err
			}
			if option(cmd, "dsn") != "" {
				return diffLive(cmd, e, asJSON, verbose)
			}
			before, err := releasedAs(cmd, e, from)
			if err != nil {
				return err
			}
			plan, err := artifact.Upgrade(before, e.Manifest(), false)
			if refused := (upgrade.Refused{}); errors.As(err, &refused) {
				return process.Fail(process.Input, fmt.Sprintf("sluice: %s\nhint: %s\n", refused.Message, refused.Hint))
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), plan)
			}
			return printPlan(cmd.OutOrStdout(), plan, verbose)
		}),
	}
	command.Flags().StringVar(&from, "from", "", "the released `version` to compare with, or another artifact directory, for the last version there (default: the last one)")
	command.Flags().BoolVar(&verbose, "verbose", false, "print each step with its statements")
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	command.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if from != "" && option(cmd, "dsn") != "" {
			return process.Fail(process.Usage, "sluice: give --from or --dsn, not both: a database says itself which version it has\n")
		}
		return nil
	}
	return command
}

// releasedAs finds a released version, the last one before the spec's if none is named; the last one of another artifact directory if that is named.
func releasedAs(cmd *cobra.Command, e *generator.Extension, version string) (upgrade.Manifest, error) {
	dir := option(cmd, "out")
	if info, err := os.Stat(version); err == nil && info.IsDir() {
		dir, version = version, ""
	}
	released, err := artifact.Releases(dir, e.Name)
	if err != nil {
		return upgrade.Manifest{}, err
	}
	if len(released) == 0 {
		return upgrade.Manifest{}, fmt.Errorf("no version of extension %s is released in %s; \"sluice release\" keeps the current one", e.Name, dir)
	}
	if version == "" {
		last := released[len(released)-1]
		if last.Version == e.Version && len(released) > 1 {
			last = released[len(released)-2]
		}
		return last, nil
	}
	versions := ""
	for _, m := range released {
		if m.Version == version {
			return m, nil
		}
		versions += " " + m.Version
	}
	return upgrade.Manifest{}, fmt.Errorf("version %s of extension %s is not released; these are:%s", version, e.Name, versions)
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
