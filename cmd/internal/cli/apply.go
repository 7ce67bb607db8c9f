package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/ivm/diag"
)

func newApply() *cobra.Command {
	var dryRun, all bool
	var flavour string
	var options live.Options
	command := &cobra.Command{
		Use:   "apply",
		Short: "Installs or upgrades the extension in a database, in one transaction",
		Long: "Installs or upgrades the extension in one transaction, and fills new stream tables in transactions of their own. A lock that is not to be had within --lock-timeout\n" +
			"ends the transaction: those who queued behind go on, and it is tried again. What was interrupted, another apply completes. The exit status is 3 also if all is\n" +
			"installed, but a stream table could not be filled.",
		Example: `  sluice apply --dsn postgres://localhost/shop --dry-run > plan.sql
  sluice apply --dsn postgres://localhost/shop
  sluice apply --dsn postgres://localhost/shop --allow-data-loss
  sluice apply --all --lock-timeout 500ms --retry-for 1h     # of DATABASE_URL`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			switch generator.Flavour(flavour) {
			case "", generator.Plain, generator.AsExtension, generator.AsTLE:
			default:
				return process.Fail(process.Usage, fmt.Sprintf("sluice: --flavour is plain, extension or tle, not %q\n", flavour))
			}
			if options.LockTimeout < 0 || options.Retry < 0 {
				return process.Fail(process.Usage, "sluice: --lock-timeout and --retry-for cannot be negative\n")
			}
			options.Flavour = generator.Flavour(flavour)
			if !all {
				return applyOne(cmd, options, dryRun)
			}
			generates := func() error { _, _, err := generateFor(cmd); return err } // what is wrong with one is found before another is applied
			return each(cmd, generates, func() error { return applyOne(cmd, options, dryRun) })
		}),
	}
	command.Flags().BoolVar(&all, "all", false, "apply each of several specs, one after the other, in a transaction of its own; an error ends it")
	command.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing; print the script that psql would run, where --dsn says in that database")
	command.Flags().StringVar(&flavour, "flavour", "", "plain objects (the default), or an `extension` whose files are on the server, or tle: one whose scripts pg_tle keeps")
	command.Flags().BoolVar(&options.Loss, "allow-data-loss", false, "upgrade although data goes")
	command.Flags().DurationVar(&options.LockTimeout, "lock-timeout", 2*time.Second, "wait no longer for a lock, as others queue behind; 0: as the server is set")
	command.Flags().DurationVar(&options.Retry, "retry-for", 10*time.Minute, "try again for that long if a lock is not to be had")
	return command
}

// applyOne applies the one spec that --file names, or prints what that would run.
func applyOne(cmd *cobra.Command, options live.Options, dryRun bool) error {
	e, texts, err := generateFor(cmd)
	if err != nil {
		return err
	}
	released, err := artifact.Releases(option(cmd, "out"), e.Name)
	if err != nil {
		return err
	}
	options.Released, options.Out = released, option(cmd, "out")
	warn(cmd, nil, []*generator.Extension{e}, texts)
	if dryRun {
		return printScript(cmd, e, texts, options)
	}
	url, err := dsn(cmd)
	if err != nil {
		return err
	}
	options.Progress = progressOn(cmd.ErrOrStderr(), url)
	return withNotices(cmd, options.Progress.Notice, func(ctx context.Context, conn *pgx.Conn) error {
		did, err := live.Apply(ctx, conn, e, options)
		if err != nil {
			return shown(atTheirPlaces(err, texts), texts)
		}
		for _, loss := range did.Losses {
			fmt.Fprintf(cmd.ErrOrStderr(), "deleted %s\n", loss)
		}
		tellApplied(cmd, e, did)
		return notFilled(did.Unfilled)
	})
}

// printScript prints what apply would run: in the database that is named, or else where nothing is installed.
func printScript(cmd *cobra.Command, e *generator.Extension, texts *diag.List, options live.Options) error {
	if _, err := dsn(cmd); err != nil {
		script, err := live.InstallScript(e, options)
		fmt.Fprint(cmd.OutOrStdout(), script)
		return err
	}
	return withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) error {
		script, err := live.Script(ctx, conn, e, options)
		fmt.Fprint(cmd.OutOrStdout(), script)
		return shown(atTheirPlaces(err, texts), texts)
	})
}

// shown gives what the database finds wrong with queries the texts in which they stand.
func shown(err error, texts *diag.List) error {
	if wrong := (*diag.List)(nil); errors.As(err, &wrong) {
		wrong.Merge(texts)
	}
	return err
}

// tellApplied says what apply did.
func tellApplied(cmd *cobra.Command, e *generator.Extension, did live.Applied) {
	out := cmd.ErrOrStderr()
	for _, d := range did.Repaired {
		fmt.Fprintf(out, "repaired: %s\n", d)
	}
	for _, d := range did.Left {
		fmt.Fprintf(out, "left alone: %s: %s\n", d, d.Left)
	}
	verb := "is installed already, nothing to do"
	switch {
	case did.From != "" && artifact.IsDowngrade(did.From, e.Version):
		verb = "downgraded from " + did.From
	case did.From == e.Version:
		verb = "changed under its number"
	case did.From != "":
		verb = "upgraded from " + did.From
	case len(did.Repaired) > 0:
		verb = "repaired"
	case did.Changed:
		verb = "installed"
	}
	if did.Unreleased {
		verb += ", which was not released"
	}
	fmt.Fprintf(out, "extension %s %s %s\n", e.Name, e.Version, verb)
}

// notFilled is the error that apply ends with if the database refused to fill stream tables.
func notFilled(unfilled []live.Unfilled) error {
	text := "sluice: not all stream tables are filled:\n"
	refused := false
	for _, t := range unfilled {
		text += fmt.Sprintf("  %s: %s\n", t.Name, cmp.Or(t.Why, "another session is at it"))
		refused = refused || t.Why != ""
	}
	if !refused {
		return nil // ticks go on with it
	}
	return process.Fail(process.Database, text+"hint: all else is in place. Remove the cause, and the next tick fills them, or apply; what is suspended waits for resume_stream_table()\n")
}
