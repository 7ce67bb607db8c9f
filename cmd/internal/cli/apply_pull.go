package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/pull"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// generateFor is generateOne with the database at hand: what the queries read and no DDL file makes is looked up there. The list has the texts of the
// files, for what the database finds wrong with them.
func generateFor(cmd *cobra.Command) (*generator.Extension, *diag.List, error) {
	e, _, texts, err := generateWith(cmd)
	return e, texts, err
}

// generateWith is generateFor, with the spec, whose DDL makes all that the extension reads.
func generateWith(cmd *cobra.Command) (*generator.Extension, *spec.Spec, *diag.List, error) {
	specs, problems, err := load(cmd, plan.CheckReading)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(specs) != 1 {
		return nil, nil, nil, several(cmd, specs)
	}
	s := specs[0]
	released, err := artifact.Releases(option(cmd, "out"), s.Extension.Name)
	if err != nil {
		return nil, nil, nil, err
	}
	e, errs := generator.Generate(s, released...)
	if lacksTables(errs) {
		if pulled := pullInto(cmd, s); pulled != nil {
			s = pulled
			e, errs = generator.Generate(s, released...)
		}
	}
	problems.Merge(errs)
	return e, s, problems, invalid(problems)
}

// atTheirPlaces shows names that others have where the spec gives them; all other errors stay as they are.
func atTheirPlaces(err error, texts *diag.List) error {
	var taken live.NamesTaken
	if !errors.As(err, &taken) {
		return err
	}
	problems := &diag.List{}
	problems.Merge(texts)
	for _, name := range taken.Names {
		problems.Add(taken.Extension.Problem(name))
	}
	noun := "errors"
	if len(taken.Names) == 1 {
		noun = "error"
	}
	return exitError{exitInput, fmt.Sprintf("%s\n%d %s; nothing was changed\n", problems, len(taken.Names), noun)}
}

// lacksTables reports whether all that is wrong is that tables are not known.
func lacksTables(errs *diag.List) bool {
	all := errs.Errors()
	return len(all) > 0 && !slices.ContainsFunc(all, func(e diag.Error) bool { return e.Code != "unknown-table" })
}

// pullInto is the spec with what it reads as the database has it; nil where that does not work either, and what the files lack stands as
// the error.
func pullInto(cmd *cobra.Command, s *spec.Spec) *spec.Spec {
	reads, errs := plan.ReadsOf(s)
	if _, err := dsn(cmd); err != nil || !errs.Empty() {
		return nil
	}
	var script pull.Script
	err := withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) (err error) {
		script, err = pull.Pull(ctx, conn, pull.Request{Reads: *reads}, errs)
		return err
	})
	if err != nil || !errs.Empty() {
		return nil
	}
	with := *s
	with.DDL = []diag.Block{diag.WholeFile("the database", script.SQL)}
	return &with
}
