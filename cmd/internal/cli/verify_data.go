package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
)

// verifyData compares the stream tables of a database with their queries: those of the spec that --file names, or of all extensions.
func verifyData(cmd *cobra.Command, asJSON bool) error {
	var schemas []string
	if cmd.Flags().Changed("file") {
		e, err := generateOne(cmd)
		if err != nil {
			return err
		}
		schemas = []string{e.Schema}
	}
	all := []*live.ComparedData{}
	err := looking(cmd, func(ctx context.Context, conn *pgx.Conn) (err error) {
		if schemas == nil {
			if schemas, err = live.Schemas(ctx, conn); err == nil && len(schemas) == 0 {
				err = live.Refusal{Message: "no extension is installed in database " + conn.Config().Database, Hint: "\"sluice apply\" installs one"}
			}
		}
		for _, schema := range schemas {
			if err == nil {
				var data *live.ComparedData
				data, err = live.CompareData(ctx, conn, schema)
				all = append(all, data)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(cmd.OutOrStdout(), all)
	} else {
		_, err = fmt.Fprint(cmd.OutOrStdout(), dataText(all))
	}
	if err == nil {
		err = differing(all)
	}
	return err
}

// differing is the error that ends the command if anything differs, or could not be compared because of an error.
func differing(all []*live.ComparedData) error {
	differ, failed, of, hint := 0, 0, 0, "the errors say why"
	for _, data := range all {
		if data.Count(live.Differs) > 0 && differ == 0 {
			hint = live.MendHint(data.Schema)
		}
		differ, failed, of = differ+data.Count(live.Differs), failed+data.Count(live.Failed), of+len(data.StreamTables)
	}
	if differ+failed == 0 {
		return nil
	}
	text := fmt.Sprintf("sluice: stream tables that differ from their queries: %d of %d", differ, of)
	if failed > 0 {
		text += fmt.Sprintf(", and %d could not be compared", failed)
	}
	return process.Fail(process.Input, text+"\nhint: "+hint+"\n")
}

func dataText(all []*live.ComparedData) string {
	var text strings.Builder
	for n, data := range all {
		if n > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "extension %s %s in schema %s\n", data.Extension, data.Version, data.Schema)
		if len(data.StreamTables) == 0 {
			text.WriteString("no stream tables\n")
			continue
		}
		t := statusTable("stream table", "mode", "outcome", "missing", "extra", "")
		for _, c := range data.StreamTables {
			t.AppendRow(table.Row{c.Name, c.Mode, c.Outcome, number(c.Missing), number(c.Extra), c.Detail})
		}
		text.WriteString("\n" + right(t, 4, 5) + "\n")
	}
	return text.String()
}

// number shows a number that may be unknown.
func number(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}
