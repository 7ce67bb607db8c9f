package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
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
	e, s, errs, err := compiledWith(cmd, specs[0])
	if err != nil {
		return nil, nil, nil, err
	}
	problems.Merge(errs)
	return e, s, problems, invalid(problems)
}

// generateAsking is generate with the database at hand, which is asked about the queries, too.
func generateAsking(cmd *cobra.Command) ([]*generator.Extension, error) {
	specs, problems, err := load(cmd, plan.CheckReading)
	if err != nil {
		return nil, err
	}
	var extensions []*generator.Extension
	for _, s := range specs {
		e, _, errs, err := compiledWith(cmd, s)
		if err != nil {
			return nil, err
		}
		problems.Merge(errs)
		extensions = append(extensions, e)
	}
	if err := invalid(problems); err != nil {
		return nil, err
	}
	wrong := &diag.List{}
	err = withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) error {
		for _, e := range extensions {
			found, err := live.Ask(ctx, conn, e)
			if err != nil {
				return err
			}
			wrong.Merge(found)
		}
		return nil
	})
	if err == nil && wrong.Empty() {
		warn(cmd, specs, extensions, problems)
	}
	if err == nil && !wrong.Empty() {
		wrong.Merge(problems)
		err = invalid(wrong)
	}
	return extensions, err
}

// compiledWith compiles a spec with the database at hand. The spec that it returns has the DDL that was read there.
func compiledWith(cmd *cobra.Command, s *spec.Spec) (*generator.Extension, *spec.Spec, *diag.List, error) {
	released, err := artifact.Releases(option(cmd, "out"), s.Extension.Name)
	if err != nil {
		return nil, nil, nil, err
	}
	e, errs := generator.Generate(s, released...)
	if !errs.Empty() && errs.Without(plan.KnownByServer...).Empty() {
		if _, err := dsn(cmd); err == nil {
			s = pullInto(cmd, s)
			e, errs = generator.Generate(s, released...)
		}
	}
	if others := errs.Without(plan.KnownByServer...); !others.Empty() {
		errs = others // the database may have what the DDL files lack
	}
	return e, s, errs, nil
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
	return process.Fail(process.Input, fmt.Sprintf("%s\n%d %s; nothing was changed\n", problems, len(taken.Names), noun))
}

// pullInto is the spec with what it reads as the database has it. Where the database lacks some of that, it is the spec as it is: functions and types that
// the DDL files lack are left to the database, which says what it finds wrong with a query.
func pullInto(cmd *cobra.Command, s *spec.Spec) *spec.Spec {
	with := *s
	with.Pulled = true
	reads, errs := plan.ReadsOf(s)
	if !errs.Empty() {
		return &with
	}
	var script pull.Script
	err := withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) (err error) {
		script, err = pull.Pull(ctx, conn, pull.Request{Reads: *reads}, errs)
		return err
	})
	if err == nil && errs.Empty() {
		with.DDL = []diag.Block{diag.WholeFile("the database", script.SQL)}
	}
	return &with
}
