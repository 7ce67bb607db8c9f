package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/explain"
	"github.com/pgsluice/sluice/generator/migrations"
	"github.com/pgsluice/sluice/generator/spec"
)

// fixedValues are what flags take, by their names.
var fixedValues = map[string][]string{
	"format": explain.Formats, "stage": explain.Stages,
	"flavour":    {string(generator.Plain), string(generator.AsExtension), string(generator.AsTLE)},
	"migrations": formatNames(),
	"log-format": process.LogFormats,
}

func formatNames() (names []string) {
	for _, f := range migrations.Formats() {
		names = append(names, string(f))
	}
	return names
}

// flagCompletions complete the values of flags that name something, by their names. Flags that are in neither map take free text.
var flagCompletions = map[string]cobra.CompletionFunc{
	"file": cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	"out":  cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
	"schema": ofSpecs(func(cmd *cobra.Command, s *spec.Spec) []string {
		if cmd.CommandPath() == "sluice schema pull" { // a schema of the source tables, which the database has
			return nil
		}
		return []string{s.Extension.Schema}
	}),
	"group": ofSpecs(func(_ *cobra.Command, s *spec.Spec) []string {
		return namesOf(s.ConsumerGroups, func(g spec.ConsumerGroup) string { return g.Name })
	}),
	"inbox": ofSpecs(func(_ *cobra.Command, s *spec.Spec) []string {
		return namesOf(s.Inboxes, func(i spec.Inbox) string { return i.Name })
	}),
	"from": ofSpecs(func(cmd *cobra.Command, s *spec.Spec) (versions []string) {
		released, _ := artifact.Releases(option(cmd, "out"), s.Extension.Name)
		for _, m := range released {
			versions = append(versions, m.Version)
		}
		return versions
	}),
}

// completeStreamTable completes the name of one stream table.
func completeStreamTable(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return cobra.NoFileCompletions(cmd, args, typed)
	}
	return ofSpecs(func(_ *cobra.Command, s *spec.Spec) []string {
		return namesOf(s.StreamTables, func(t spec.StreamTable) string { return t.Name })
	})(cmd, args, typed)
}

// ofSpecs completes by what the specs say, as far as they can be read.
func ofSpecs(names func(*cobra.Command, *spec.Spec) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
		specs, _ := spec.LoadQueries(option(cmd, "file"))
		for _, s := range specs {
			all = append(all, names(cmd, s)...)
		}
		all = slices.DeleteFunc(all, func(name string) bool { return name == "" })
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

func namesOf[T any](all []T, name func(T) string) (names []string) {
	for _, one := range all {
		names = append(names, name(one))
	}
	return names
}
