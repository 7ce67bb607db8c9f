package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
)

func newDeadLetters() *cobra.Command {
	var inbox, group string
	var replay, discard, all, asJSON bool
	var schema func() (string, error)
	command := &cobra.Command{
		Use:   "dead-letters [id]...",
		Short: "Lists the dead letters of an inbox or a consumer group, gives them back, or deletes those of a group",
		Long: "Lists the latest 200 dead letters of an inbox or a consumer group. --replay makes messages pending again, or gives events back to their\n" +
			"group; --discard deletes dead letters of a group. Both need a role that consumes, and the ids, or of a group --all.",
		Example: `  sluice dead-letters --group partners
  sluice dead-letters --group partners --replay 4711 4712
  sluice dead-letters --group partners --discard --all
  sluice dead-letters --inbox payments --replay order-17`,
		RunE: process.Run(func(cmd *cobra.Command, ids []string) error {
			switch acts := replay || discard; {
			case acts && (len(ids) == 0) != all:
				return process.Fail(process.Usage, "sluice: give the ids of dead letters, or --all\n")
			case !acts && (len(ids) > 0 || all):
				return process.Fail(process.Usage, "sluice: give --replay or --discard\n")
			case (discard || all) && inbox != "":
				return process.Fail(process.Usage, "sluice: --discard and --all are for dead letters of a consumer group\n")
			}
			schema, err := schema()
			if err != nil {
				return err
			}
			url, err := dsn(cmd)
			if err != nil {
				return err
			}
			session := live.NewSession(url, schema)
			defer session.Close()
			done, count := "replayed", int64(0)
			switch {
			case discard:
				done = "discarded"
				count, err = session.DiscardGroup(cmd.Context(), group, ids)
			case replay && group != "":
				count, err = session.ReplayGroup(cmd.Context(), group, ids)
			case replay:
				count, err = session.Replay(cmd.Context(), inbox, ids)
			default:
				return listDeadLetters(cmd, session, inbox, group, asJSON)
			}
			if err != nil {
				return described(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d %s\n", count, done)
			return err
		}),
	}
	flags := command.Flags()
	flags.StringVar(&inbox, "inbox", "", "the `inbox` whose dead letters they are")
	flags.StringVar(&group, "group", "", "the consumer `group` whose dead letters they are")
	flags.BoolVar(&replay, "replay", false, "give them back")
	flags.BoolVar(&discard, "discard", false, "delete them")
	flags.BoolVar(&all, "all", false, "with --replay or --discard, all of the group")
	flags.BoolVar(&asJSON, "json", false, "print one JSON document")
	schema = withSchema(command)
	command.MarkFlagsOneRequired("inbox", "group")
	command.MarkFlagsMutuallyExclusive("inbox", "group")
	command.MarkFlagsMutuallyExclusive("replay", "discard", "json")
	return command
}

func listDeadLetters(cmd *cobra.Command, session *live.Session, inbox, group string, asJSON bool) (err error) {
	var letters []live.DeadLetter
	if group != "" {
		letters, err = session.GroupDeadLetters(cmd.Context(), group)
	} else {
		letters, err = session.InboxDeadLetters(cmd.Context(), inbox)
	}
	if err != nil {
		return described(err)
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), append([]live.DeadLetter{}, letters...))
	}
	if len(letters) == 0 {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "no dead letters")
		return err
	}
	t := statusTable("id", "type", "dead since", "attempts", "error")
	for _, l := range letters {
		since := ""
		if l.Dead != nil {
			since = l.Dead.UTC().Format(time.DateTime)
		}
		t.AppendRow([]any{l.ID, orEmpty(l.EventType), since, l.Attempts, orEmpty(l.Error)})
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), right(t, 4))
	return err
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// described is an error of a session as the command line says it.
func described(err error) error {
	kind, message, hint := live.Described(err)
	code := process.Database
	if kind == live.Unknown || kind == live.Refused {
		code = process.Input
	}
	if hint != "" {
		hint = "hint: " + hint + "\n"
	}
	return process.Fail(code, "sluice: "+message+"\n"+hint)
}
