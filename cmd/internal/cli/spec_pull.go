package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator/spec"
)

func newSpec() *cobra.Command {
	return process.Group(&cobra.Command{
		Use:   "spec",
		Short: "Specs from databases",
	}, newSpecPull())
}

func newSpecPull() *cobra.Command {
	var schema func() (string, error)
	command := &cobra.Command{
		Use:   "pull",
		Short: "Writes the inboxes and stream tables that functions made as a part of a spec",
		Long: "Prints the inboxes and stream tables that create_inbox, enable_inbox_tracking and create_stream_table made in a database as a part of a\n" +
			"spec. Save it as another file in the directory of the spec. When the spec is generated and applied, they become those of the spec, with\n" +
			"messages and rows. An inbox over an existing table and the query of a stream table need the DDL of their tables: generate with --dsn, or\n" +
			"write it by \"sluice schema pull\". The command reads the name of the extension from the spec; with --schema it needs only the database.",
		Example: "  sluice spec pull --dsn postgres://localhost/shop > specs/shop/created.yaml",
		Args:    cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			schema, err := schema()
			if err != nil {
				return err
			}
			var created live.Created
			err = looking(cmd, func(ctx context.Context, conn *pgx.Conn) (err error) {
				created, err = live.ReadCreated(ctx, conn, schema)
				return err
			})
			if err != nil {
				return err
			}
			if len(created.Inboxes)+len(created.StreamTables) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "extension %s has no inboxes that create_inbox or enable_inbox_tracking made\n", created.Extension)
			}
			var inboxes []spec.Inbox
			for _, i := range created.Inboxes {
				inboxes = append(inboxes, inSpec(i, schema))
			}
			text, err := spec.InboxesText(inboxes, schema)
			if err != nil {
				return err
			}
			tables, err := spec.StreamTablesText(streamTablesInSpec(created.StreamTables))
			what := "Inboxes"
			switch {
			case tables != "" && len(inboxes) == 0:
				what, text = "Stream tables", strings.TrimSuffix(text, "inboxes: []\n")
			case tables != "":
				what = "Inboxes and stream tables"
			}
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "# %s that functions made in extension %s, written by \"sluice spec pull\".\n%s%s", what, created.Extension, text, tables)
			}
			return err
		}),
	}
	schema = withSchema(command)
	return command
}

// streamTablesInSpec are the stream tables of a spec that have the options of those that a function made.
func streamTablesInSpec(created []live.CreatedStreamTable) []spec.CreatedStreamTable {
	var all []spec.CreatedStreamTable
	for _, t := range created {
		all = append(all, spec.CreatedStreamTable{Relation: spec.Name{Schema: t.Schema, Name: t.Name}, Query: t.Query, RefreshMode: t.RefreshMode, Schedule: t.Schedule})
	}
	return all
}

// inSpec is the inbox of a spec that has the options of one that a function made.
func inSpec(created live.CreatedInbox, schema string) spec.Inbox {
	i := spec.NewInbox(created.Name, schema)
	i.MaxRetries, i.DeadLetter, i.Stats = created.MaxRetries, created.DeadLetter, created.Stats
	if every, err := spec.ParseDuration(created.Schedule); err == nil {
		i.Schedule = spec.Schedule{Every: every}
	}
	if o := created.Ordering; o != nil {
		i.Ordering = &spec.Ordering{Aggregate: o.Aggregate, Sequence: o.Sequence}
	}
	if p := created.Priority; p != nil {
		i.Priority = &spec.Priority{Column: p.Column}
		for _, value := range slices.Sorted(maps.Keys(p.Map)) {
			i.Priority.Map = append(i.Priority.Map, spec.PriorityEntry{Value: value, Priority: p.Map[value]})
		}
		for _, t := range p.Tiers {
			tier := spec.Tier{Name: t.Name, Min: t.Min, Max: t.Max}
			if every, err := spec.ParseDuration(t.Schedule); err == nil {
				tier.Schedule = spec.Schedule{Every: every}
			}
			i.Priority.Tiers = append(i.Priority.Tiers, tier)
		}
	}
	if !created.Managed {
		i.Table = spec.Name{Schema: created.Schema, Name: created.Table}.Text()
		columns := spec.DefaultColumns()
		columns.ID = spec.IDColumns{{Value: created.ID}}
		if len(created.IDs) > 0 {
			columns.ID = nil
			for _, name := range created.IDs {
				columns.ID = append(columns.ID, spec.Text{Value: name})
			}
		}
		columns.EventType, columns.ReceivedAt = created.EventType, created.Received
		columns.ProcessedAt, columns.RetryCount, columns.Error = created.Processed, created.RetryCount, created.Error
		if created.Delays {
			columns.AvailableAt = "available_at"
		}
		i.Columns = &columns
		return i
	}
	i.Schema = created.Schema
	if created.Kept != nil {
		kept := spec.Duration(time.Duration(*created.Kept * float64(time.Second)))
		i.Retention.Processed = &kept
	}
	return i
}
