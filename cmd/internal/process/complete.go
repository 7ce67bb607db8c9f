package process

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// AddCompletions completes arguments and flags of a command and of those below it: fixed values and functions, by the names of flags. Flags that are in neither
// map take free text.
func AddCompletions(command *cobra.Command, fixed map[string][]string, functions map[string]cobra.CompletionFunc) {
	if command.ValidArgsFunction == nil && !command.HasSubCommands() {
		command.ValidArgsFunction = cobra.NoFileCompletions
	}
	command.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		complete := functions[f.Name]
		if values := fixed[f.Name]; values != nil {
			complete = cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
		}
		if complete == nil {
			complete = cobra.NoFileCompletions
		}
		if err := command.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic("a flag of the command itself: " + err.Error())
		}
	})
	for _, child := range command.Commands() {
		AddCompletions(child, fixed, functions)
	}
}
