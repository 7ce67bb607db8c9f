package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/cmd/internal/ui"
)

func newUI() *cobra.Command {
	var o ui.Options
	var token, logFormat string
	var schema func() (string, error)
	command := &cobra.Command{
		Use:   "ui",
		Short: "Serves a page that shows how an installed extension is doing",
		Long: "Serves a page with the data flow, lag, health, problems, dead letters, stream tables and history, until it is interrupted, and prints its\n" +
			"URL. It changes nothing unless --allow-actions is given. A role that monitors is enough; the page says what it may not read. The\n" +
			"extension is that of the spec; with --schema it needs nothing but the database.",
		Example: `  sluice ui --schema pgtrickle
  sluice ui --listen 10.0.0.5:8765 --token file:/etc/sluice/ui-token`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) (err error) {
			if o.Token, err = secret(token); err != nil {
				return err
			}
			schema, err := schema()
			if err != nil {
				return err
			}
			return serveUI(cmd, schema, o, logFormat)
		}),
	}
	flags := command.Flags()
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8765", "`address` that serves the page; one that is not loopback needs --token")
	flags.StringVar(&token, "token", "", "`source` of the token that visitors must know: env:NAME or file:PATH")
	flags.BoolVar(&o.Actions, "allow-actions", false, "let visitors replay and discard dead letters, and pause and resume inboxes and groups")
	flags.StringVar(&logFormat, "log-format", "text", "text or json")
	schema = withSchema(command)
	return command
}

// secret reads a secret from an environment variable or a file. Arguments, which other users of the machine see, never hold one.
func secret(from string) (string, error) {
	kind, where, _ := strings.Cut(from, ":")
	value := ""
	switch {
	case from == "":
		return "", nil
	case kind == "env" && where != "":
		value = os.Getenv(where)
	case kind == "file" && where != "":
		text, err := os.ReadFile(where)
		if err != nil {
			return "", process.Fail(process.Usage, fmt.Sprintf("sluice: --token: %v\n", err))
		}
		value = string(text)
	default: // it may be the secret itself, so it is not printed
		return "", process.Fail(process.Usage, "sluice: --token is env:NAME or file:PATH, not the token itself\n")
	}
	if value = strings.TrimSpace(value); value == "" {
		return "", process.Fail(process.Usage, fmt.Sprintf("sluice: --token: %s holds nothing\n", from))
	}
	return value, nil
}

func serveUI(cmd *cobra.Command, schema string, o ui.Options, logFormat string) error {
	log, err := process.Logger(cmd, logFormat, "info")
	if err != nil {
		return err
	}
	// What is wrong from the beginning is said here and not on the page.
	err = looking(cmd, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := live.ReadStatus(ctx, conn, schema)
		return err
	})
	if err != nil {
		return err
	}
	url, err := dsn(cmd)
	if err != nil {
		return err
	}
	session := live.NewSession(url, schema)
	defer session.Close()
	server, err := ui.Listen(o, session, log)
	if err != nil {
		return process.Fail(process.Usage, fmt.Sprintf("sluice: %v\n", err))
	}
	fmt.Fprintln(cmd.OutOrStdout(), server.URL())
	return server.Run(cmd.Context())
}
