package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/explain"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/ivm/diag"
)

func newExplain() *cobra.Command {
	var stage, format string
	command := &cobra.Command{
		Use:   "explain [NAME]",
		Short: "Explains how a stream table is kept equal to its query",
		Long: `Explains how a stream table is kept equal to its query: the strategy, what a changed row of each source costs, which indexes are
advised, the operators of the query with their delta rules, and the functions as they are installed. A table that
must be recomputed comes with the reasons, where they stand, and what to write instead.

The result goes to standard output. As text it is all stages; svg draws the query and its change; mermaid is the flowchart of one
stage, or without --stage a Markdown document with those of the query and its change; html is a page in one file with everything on it.
Without a name, the stream tables are listed.`,
		Example: `  sluice explain order_totals
  sluice explain order_totals --stage sql
  sluice explain order_totals --format html > order_totals.html`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeStreamTable,
		RunE: process.Run(func(cmd *cobra.Command, args []string) error {
			if err := oneOf("--stage", stage, append([]string{""}, explain.Stages...)); err != nil {
				return err
			}
			if err := oneOf("--format", format, explain.Formats); err != nil {
				return err
			}
			if stage == explain.StageSQL && (format == explain.FormatSVG || format == explain.FormatMermaid) {
				return process.Fail(process.Usage, "sluice: --stage sql has no picture; use --format text or html\n")
			}
			return showExplanation(cmd, strings.Join(args, ""), stage, format)
		}),
	}
	command.Flags().StringVar(&stage, "stage", "", "show no more than one `stage`: "+strings.Join(explain.Stages, ", "))
	command.Flags().StringVar(&format, "format", explain.FormatText, "`format` of the result: "+strings.Join(explain.Formats, ", "))
	return command
}

// oneOf checks the value of a flag.
func oneOf(flag, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	hint := ""
	if near := diag.Nearest(value, allowed); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	named := slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
	return process.Fail(process.Usage, fmt.Sprintf("sluice: %s is one of %s%s\n", flag, strings.Join(named, ", "), hint))
}

func showExplanation(cmd *cobra.Command, name, stage, format string) error {
	specs, problems, err := load(cmd, plan.Check)
	if err != nil {
		return err
	}
	var names, tables []string
	for _, s := range specs {
		text, found, errs, err := generator.Explain(s, name, stage, format)
		if err != nil {
			return err
		}
		problems.Merge(errs)
		if found {
			fmt.Fprint(cmd.OutOrStdout(), text)
			return invalid(problems)
		}
		for _, t := range s.StreamTables {
			names, tables = append(names, t.Name, t.Relation.Name), append(tables, t.Name)
		}
	}
	if name == "" {
		for _, table := range tables {
			fmt.Fprintln(cmd.OutOrStdout(), table)
		}
		return invalid(problems)
	}
	hint := "\nhint: these are: " + strings.Join(tables, ", ")
	if near := diag.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	} else if len(tables) == 0 {
		hint = "\nhint: " + option(cmd, "file") + " has none"
	}
	return process.Fail(process.Input, fmt.Sprintf("sluice: stream table not found: %s%s\n", name, hint))
}
