package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
)

// diffLive prints how a database differs from the spec; a difference is exit status 1.
func diffLive(cmd *cobra.Command, e *generator.Extension, asJSON, verbose bool) error {
	released, err := artifact.Releases(option(cmd, "out"), e.Name)
	if err != nil {
		return err
	}
	var report live.Report
	err = withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) error {
		report, err = live.Diff(ctx, conn, e, released)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(cmd.OutOrStdout(), report)
	} else {
		err = printReport(cmd.OutOrStdout(), report, verbose)
	}
	if err == nil && !report.Clean() {
		return process.Fail(process.Input, "")
	}
	return err
}

func printReport(out io.Writer, report live.Report, verbose bool) error {
	if report.Installed == "" {
		fmt.Fprintf(out, "extension %s is not installed; apply installs version %s\n", report.Extension, report.Version)
		printTaken(out, report.Taken)
		return nil
	}
	how := "is as it was installed"
	if len(report.Differences) > 0 {
		how = "was changed by hand"
	}
	fmt.Fprintf(out, "extension %s %s (%s) %s\n", report.Extension, report.Installed, report.Flavour, how)
	for _, d := range report.Differences {
		fmt.Fprint(out, d.Text())
	}
	if report.Upgrade == nil {
		return nil
	}
	defer printTaken(out, report.Taken)
	switch {
	case report.Upgrade.Downgrade:
		fmt.Fprint(out, "\nthe spec has an older version: apply goes back ")
	case report.Upgrade.Empty():
		fmt.Fprint(out, "\nthe spec has another version: ")
	case report.Upgrade.From == report.Upgrade.To:
		fmt.Fprint(out, "\nthe spec changed and kept its version number: apply changes ")
	default:
		fmt.Fprint(out, "\nthe spec has another version: apply upgrades ")
	}
	return printPlan(out, *report.Upgrade, verbose)
}

// printTaken lists names that others have, at which apply refuses to go on.
func printTaken(out io.Writer, names []live.Taken) {
	for _, t := range names {
		fmt.Fprintf(out, "taken    %s %s\n         it is of role %s, and this extension did not make it: apply refuses, at %s\n", t.Kind, t.Name, t.Owner, t.At)
	}
}
