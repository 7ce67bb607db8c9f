package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// loadSpecs reads the specs that -f names; whatever is wrong with any of them is one error.
func loadSpecs(cmd *cobra.Command) ([]*spec.Spec, error) {
	specs, problems := spec.Load(option(cmd, "file"))
	return specs, invalid(problems)
}

// invalid turns what is wrong with the input into the error that ends the command, or nil if nothing is.
func invalid(problems *diag.List) error {
	if problems.Empty() {
		return nil
	}
	noun := "errors"
	count := len(problems.Errors())
	if count == 1 {
		noun = "error"
	}
	return exitError{exitInput, fmt.Sprintf("%s\n%d %s; nothing was written\n", problems, count, noun)}
}
