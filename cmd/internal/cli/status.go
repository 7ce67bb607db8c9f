package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/cmd/internal/watch"
)

// watchEvery is the time between two looks of --watch.
const watchEvery = time.Second

func newStatus() *cobra.Command {
	var watch, asJSON bool
	var rounds int
	var schema func() (string, error)
	command := &cobra.Command{
		Use:   "status",
		Short: "Shows how an installed extension is doing, what is wrong, and what to do about it",
		Long: "Shows the installed version, stream tables, inboxes, outboxes, consumer groups and background tasks. A role that monitors is enough. The\n" +
			"extension is that of the spec; with --schema it needs nothing but the database.",
		Example: `  sluice status --dsn postgres://localhost/shop
  sluice status --schema pgtrickle --watch
  sluice status --json`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			schema, err := schema()
			if err != nil {
				return err
			}
			if watch {
				return watchStatus(cmd, schema, rounds)
			}
			status, err := readStatus(cmd, schema)
			if err != nil {
				return err
			}
			return printStatus(cmd.OutOrStdout(), status, asJSON)
		}),
	}
	command.Flags().BoolVar(&watch, "watch", false, "look again every second, until interrupted; on a terminal q quits")
	command.Flags().IntVar(&rounds, "rounds", 0, "with --watch, stop after that many looks; 0: never")
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	schema = withSchema(command)
	command.MarkFlagsMutuallyExclusive("watch", "json")
	return command
}

// withSchema adds the flag that names the schema of an installed extension; it returns how to read it, or the spec that --file names instead. Where
// there is neither a flag nor a directory of specs, it is the usual one.
func withSchema(command *cobra.Command) func() (string, error) {
	schema := ""
	command.Flags().StringVar(&schema, "schema", "", "the extension's `schema` (default: as the spec says, pgtrickle without one)")
	return func() (string, error) {
		named := command.Flags().Changed("file")
		switch {
		case named && schema != "":
			return "", process.Fail(process.Usage, "sluice: give --schema or --file, not both\n")
		case schema != "":
			return schema, nil
		}
		if _, err := os.Stat(option(command, "file")); err != nil && !named {
			return "pgtrickle", nil
		}
		e, err := generateOne(command)
		if err != nil {
			return "", err
		}
		return e.Schema, nil
	}
}

func readStatus(cmd *cobra.Command, schema string) (status *live.Status, err error) {
	err = looking(cmd, func(ctx context.Context, conn *pgx.Conn) (err error) {
		status, err = live.ReadStatus(ctx, conn, schema)
		return err
	})
	return status, err
}

// looking is withDatabase for what changes nothing, so that a refusal need not say so.
func looking(cmd *cobra.Command, body func(context.Context, *pgx.Conn) error) error {
	return withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) error {
		err := body(ctx, conn)
		if refusal := (live.Refusal{}); errors.As(err, &refusal) {
			return process.Fail(process.Input, fmt.Sprintf("sluice: %s\nhint: %s\n", refusal.Message, refusal.Hint))
		}
		return err
	})
}

func printStatus(out io.Writer, status *live.Status, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(out, statusText(status))
		return err
	}
	return printJSON(out, status)
}

// watchStatus shows the status again and again until it is interrupted, or as many times as rounds says if that is not 0. A server that goes away meanwhile is waited for.
func watchStatus(cmd *cobra.Command, schema string, rounds int) error {
	read := func() (*live.Status, error) { return readStatus(cmd, schema) }
	if out, ok := cmd.OutOrStdout().(*os.File); ok && term.IsTerminal(int(out.Fd())) {
		return watch.Run(cmd.Context(), cmd.InOrStdin(), out, rounds, read)
	}
	for round := 1; ; round++ {
		status, err := read()
		text := ""
		switch {
		case cmd.Context().Err() != nil:
			return nil
		case err != nil && round == 1:
			return err
		case err != nil:
			text = err.Error()
		default:
			text = statusText(status)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", time.Now().Format(time.RFC3339), text)
		if round == rounds {
			return nil
		}
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}
