package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/cmd/internal/verify"
	"github.com/pgsluice/sluice/generator/artifact"
)

// mostRounds of random changes can be asked for.
const mostRounds = 100_000

func newVerify() *cobra.Command {
	options := verify.Options{Rounds: 20}
	var asJSON, data bool
	command := &cobra.Command{
		Use:   "verify",
		Short: "Tries the extension out in scratch databases of a server: installs, upgrades, random changes, messages",
		Long: "Makes scratch databases on the server of --dsn, which it drops again, also on an error or an interrupt; the database of --dsn itself is left alone.\n" +
			"There it makes the tables of the spec's DDL, installs the extension, upgrades it from every released version, runs plpgsql_check where the\n" +
			"server has it, changes the tables at random and compares each stream table with its query, and uses each inbox and outbox a little.\n" +
			"It needs the right to create databases, and exits 1 if anything is not as it should be.\n\n" +
			"With --data, it makes no scratch database: it compares the stream tables of the database of --dsn with their queries, of all extensions there, or of\n" +
			"the one whose spec -f names. Each comparison takes as long as the query, and changes nothing.",
		Example: `  sluice verify --dsn postgres://localhost/scratch
  sluice verify --rounds 100 --seed 42
  sluice verify --data --dsn postgres://localhost/shop       # compares what is installed, changes nothing`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			if data {
				return verifyData(cmd, asJSON)
			}
			if options.Rounds < 1 || options.Rounds > mostRounds {
				return process.Fail(process.Usage, fmt.Sprintf("sluice: --rounds is 1 to %d\n", mostRounds))
			}
			var err error
			if options.DSN, err = dsn(cmd); err != nil {
				return err
			}
			if !cmd.Flags().Changed("seed") {
				options.Seed = uint64(rand.Uint32())
			}
			return verifyWith(cmd, options, asJSON)
		}),
	}
	command.Flags().Uint64Var(&options.Seed, "seed", 0, "`number` that the random changes come from (default: another each time)")
	command.Flags().IntVar(&options.Rounds, "rounds", options.Rounds, "how many `rounds` of random changes to make and compare")
	command.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	command.Flags().BoolVar(&data, "data", false, "compare the stream tables of the database itself with their queries")
	command.MarkFlagsMutuallyExclusive("data", "rounds")
	command.MarkFlagsMutuallyExclusive("data", "seed")
	return command
}

func verifyWith(cmd *cobra.Command, options verify.Options, asJSON bool) error {
	e, s, _, err := generateWith(cmd)
	if err != nil {
		return err
	}
	options.Extension = e
	if options.Released, err = artifact.Releases(option(cmd, "out"), e.Name); err != nil {
		return err
	}
	for _, ddl := range s.DDL {
		options.DDL = append(options.DDL, ddl.Text)
	}
	options.Log = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...) }
	options.Log("seed %d", options.Seed)
	result, err := verify.Run(cmd.Context(), options)
	switch {
	case errors.Is(err, context.Canceled):
		return process.Fail(process.Input, "sluice: interrupted; the scratch databases are gone\n")
	case err != nil:
		return process.Fail(process.Database, fmt.Sprintf("sluice: %v\n", err))
	case asJSON:
		err = printJSON(cmd.OutOrStdout(), result)
	default:
		err = printResult(cmd.OutOrStdout(), result)
	}
	if err == nil && result.Failed() {
		return process.Fail(process.Input, fmt.Sprintf("sluice: verification failed; to repeat it: --seed %d\n", result.Seed))
	}
	return err
}

func printResult(out io.Writer, result *verify.Result) error {
	wide := 0
	for _, c := range result.Checks {
		wide = max(wide, len(c.Name))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "extension %s %s on PostgreSQL %s, seed %d\n", result.Extension, result.Version, result.Server, result.Seed)
	for _, c := range result.Checks {
		outcome := c.Outcome
		if outcome == verify.Failed {
			outcome = "FAILED"
		}
		detail := strings.ReplaceAll(c.Detail, "\n", "\n"+strings.Repeat(" ", wide+15))
		fmt.Fprintf(&text, "%s\n", strings.TrimRight(fmt.Sprintf("%-*s  %-11s  %s", wide, c.Name, outcome, detail), " "))
	}
	_, err := io.WriteString(out, text.String())
	return err
}
