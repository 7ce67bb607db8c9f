package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// generate loads and compiles the specs that --file names; whatever is wrong with any of them is one error.
func generate(cmd *cobra.Command) ([]*generator.Extension, error) {
	specs, problems, err := load(cmd, plan.Check)
	if err != nil {
		return nil, err
	}
	var extensions []*generator.Extension
	for _, s := range specs {
		released, err := artifact.Releases(option(cmd, "out"), s.Extension.Name)
		if err != nil {
			return nil, err
		}
		e, errs := generator.Generate(s, released...)
		problems.Merge(errs)
		extensions = append(extensions, e)
	}
	if problems.Empty() {
		warn(cmd, specs, extensions, problems)
	}
	return extensions, invalid(problems)
}

// warn prints what the specs are likely not meant to say, and generate and apply what they mean that may surprise; the list has the texts of their files.
func warn(cmd *cobra.Command, specs []*spec.Spec, extensions []*generator.Extension, texts *diag.List) {
	warnings := texts.Without()
	for _, e := range extensions {
		for _, note := range e.Notes {
			if cmd.Name() == "generate" || cmd.Name() == "apply" {
				warnings.Add(note)
			}
		}
	}
	for _, s := range specs {
		for _, w := range plan.Warnings(s) {
			warnings.Add(w)
		}
	}
	if !warnings.Empty() {
		fmt.Fprintln(cmd.ErrOrStderr(), warnings)
	}
}

// load loads the specs that --file names. If something is wrong with one, check finds what else is, and all of it is the error; otherwise it is
// for who compiles them to find, and to add to the list.
func load(cmd *cobra.Command, check func(*spec.Spec) *diag.List) ([]*spec.Spec, *diag.List, error) {
	specs, problems := spec.Load(option(cmd, "file"))
	if problems.Empty() {
		return specs, problems, invalid(notOn(cmd, specs))
	}
	for _, s := range specs {
		problems.Merge(check(s))
	}
	return nil, nil, invalid(problems)
}

// notOn reports specs for servers that a command does not work on: for some there are files, and nothing that looks into a database.
func notOn(cmd *cobra.Command, specs []*spec.Spec) *diag.List {
	problems := &diag.List{}
	name := cmd.Name()
	if name == "generate" && cmd.Flags().Changed("dsn") {
		name += " --dsn"
	}
	for _, s := range specs {
		if s.FixedTarget() && name != "generate" {
			problems.Add(diag.Error{
				Pos: s.Extension.Field("target"), Code: "not-generated",
				Message: fmt.Sprintf("sluice %s does not work on target %s", name, s.Extension.Target),
				Hint:    `"sluice generate" writes its migrations, which ` + s.ScriptsRunBy() + " runs",
			})
		}
	}
	return problems
}

// generateOne is generate for commands that talk about one extension.
func generateOne(cmd *cobra.Command) (*generator.Extension, error) {
	extensions, err := generate(cmd)
	if err != nil {
		return nil, err
	}
	if len(extensions) != 1 {
		specs, _ := spec.Load(option(cmd, "file"))
		return nil, several(cmd, specs)
	}
	return extensions[0], nil
}

// each does things with the specs that --file names, as if that named only one of them: the first with all of them, then the next.
func each(cmd *cobra.Command, things ...func() error) error {
	specs, problems := spec.Load(option(cmd, "file"))
	if err := invalid(problems); err != nil {
		return err
	}
	for _, do := range things {
		for _, s := range specs {
			file := s.Files[0]
			if len(s.Files) > 1 {
				file = filepath.Dir(file)
			}
			if err := cmd.Flags().Set("file", file); err != nil {
				return err
			}
			if err := do(); err != nil {
				return err
			}
		}
	}
	return nil
}

// several says which specs there are where one is wanted.
func several(cmd *cobra.Command, specs []*spec.Spec) error {
	all := ""
	for _, s := range specs {
		all += "\n  " + s.Files[0] + ": extension " + s.Extension.Name
	}
	orAll := ""
	if cmd.Name() == "apply" {
		orAll = ", or take --all"
	}
	return fmt.Errorf("%s holds %d specs; name one of them with --file%s:%s", option(cmd, "file"), len(specs), orAll, all)
}

// invalid turns what is wrong with the input into the error that ends the command, or nil if nothing is.
func invalid(problems *diag.List) error {
	if problems.Empty() {
		return nil
	}
	return process.Fail(process.Input, process.Problems(problems, "nothing was written"))
}
