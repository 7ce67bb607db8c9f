// Package processtest checks command lines.
package processtest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var shellWord = regexp.MustCompile(`'[^']*'|\S+`)

// CheckExamples has each command that does something have examples, and each of them be one of this command, with flags, values and arguments that it takes.
// fixed has the values of flags by their names.
func CheckExamples(t *testing.T, newRoot func() *cobra.Command, fixed map[string][]string) {
	t.Helper()
	everyCommand(newRoot(), func(command *cobra.Command) {
		if command.Example == "" && command.Runnable() && !command.HasSubCommands() && command.Name() != "version" {
			t.Errorf("%s has no example", command.CommandPath())
		}
		for _, line := range strings.Split(command.Example, "\n") {
			if command.Example != "" {
				checkExample(t, newRoot(), command, line, fixed)
			}
		}
	})
}

func everyCommand(command *cobra.Command, visit func(*cobra.Command)) {
	visit(command)
	for _, child := range command.Commands() {
		everyCommand(child, visit)
	}
}

func checkExample(t *testing.T, root, command *cobra.Command, line string, fixed map[string][]string) {
	t.Helper()
	words := shellWord.FindAllString(line, -1)
	if end := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w[:1], "#>") }); end >= 0 {
		words = words[:end]
	}
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
	}
	if len(words) == 0 || words[0] != root.Name() {
		t.Errorf("%s: %q does not begin with %s", command.CommandPath(), line, root.Name())
		return
	}
	found, rest, err := root.Find(words[1:])
	if err == nil {
		err = found.ParseFlags(rest)
	}
	if err == nil {
		err = found.ValidateArgs(found.Flags().Args())
	}
	if err != nil || !strings.HasPrefix(found.CommandPath(), command.CommandPath()) {
		t.Errorf("%s: %q: %v", found.CommandPath(), line, err)
		return
	}
	found.Flags().Visit(func(f *pflag.Flag) {
		if values := fixed[f.Name]; values != nil && !slices.Contains(values, f.Value.String()) {
			t.Errorf("%q: --%s is one of %v", line, f.Name, values)
		}
	})
}
