package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

func newExplain() *cobra.Command {
	var stage, format string
	command := &cobra.Command{
		Use:   "explain NAME",
		Short: "Explains how a stream table is kept equal to its query",
		Args:  cobra.ExactArgs(1),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if stage != "" && !slices.Contains(generator.Stages, stage) {
				return exitError{exitUsage, fmt.Sprintf("sluice: --stage is one of %s\n", strings.Join(generator.Stages, ", "))}
			}
			if generator.Formats[format] == nil {
				return exitError{exitUsage, "sluice: --format is text or mermaid\n"}
			}
			return explain(cmd, args[0], stage, format)
		}),
	}
	command.Flags().StringVar(&stage, "stage", "", "show no more than one `stage`: "+strings.Join(generator.Stages, ", "))
	command.Flags().StringVar(&format, "format", "text", "how trees are drawn: text or mermaid")
	return command
}

func explain(cmd *cobra.Command, name, stage, format string) error {
	specs, problems := spec.Load(option(cmd, "file"))
	if err := invalid(problems); err != nil {
		return err
	}
	var names []string
	for _, s := range specs {
		text, found, errs := generator.Explain(s, name, stage, generator.Formats[format])
		problems.Merge(errs)
		if found {
			fmt.Fprint(cmd.OutOrStdout(), text)
			return invalid(problems)
		}
		for _, t := range s.StreamTables {
			names = append(names, t.Name)
		}
	}
	hint := ""
	if near := diag.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return exitError{exitInput, fmt.Sprintf("sluice: stream table not found: %s%s\n", name, hint)}
}
