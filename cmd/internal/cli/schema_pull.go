package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/cmd/internal/pull"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// pulledMark begins every file that schema pull writes.
const pulledMark = `-- Written by "sluice schema pull" from a live database`

const pullLong = `Writes the DDL of the tables and views that the queries and adopted inboxes of the spec read, as they are in a live database, with all
that they need: the tables below views, partitions and inheritance, keys, unique indexes, checks, defaults, sequences, types, functions,
operators, casts, collations, text search configurations, extensions and foreign servers, and foreign keys among them. What the queries
themselves name comes too. Names without a schema are those of public and of the schema of the extension, whatever the search path of the
role is.

It does not write rows, other indexes, triggers, rules, policies, grants, owners, comments and storage parameters, nor what the spec makes
itself, options of foreign servers, and user mappings. A function is written as it is; what only the text of its body names is not.

The DDL goes to the file that the spec's "schema:" names, if it names one, and else to standard output. A file there that this command did
not write is kept, unless --force is given. Equal databases give equal bytes.`

// pullOptions are the flags of schema pull.
type pullOptions struct {
	tables, schemas []string
	all, force      bool
	out             string
}

func newSchemaPull() *cobra.Command {
	var o pullOptions
	command := &cobra.Command{
		Use:   "pull",
		Short: "Writes the DDL of the tables that the spec reads, from a live database",
		Long:  pullLong,
		Example: "  sluice schema pull --dsn postgres://localhost/shop              # into the file that schema: names\n" +
			"  sluice schema pull --table orders --table 'app.\"Odd name\"'       # these too, before a query reads them\n" +
			"  sluice schema pull --all -o -                                   # all tables and views, without any spec",
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error { return o.run(cmd) }),
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.tables, "table", nil, "write this `table` or view too; may be repeated")
	flags.StringArrayVar(&o.schemas, "schema", nil, "write all tables and views of this `schema` too; may be repeated")
	flags.BoolVar(&o.all, "all", false, "write all tables and views of the database, except those of extensions")
	flags.BoolVar(&o.force, "force", false, "overwrite the file that schema: names, even if it was not pulled")
	flags.StringVarP(&o.out, "out", "o", "", "write to this `file` rather than the one that schema: names; - is standard output")
	return command
}

// run writes the file, if all went well.
func (o pullOptions) run(cmd *cobra.Command) error {
	s, request, problems, err := o.request(cmd)
	if err != nil {
		return err
	}
	path, note, err := o.destination(s)
	if err != nil {
		return err
	}
	script, err := pullScript(cmd, request, problems)
	if err != nil {
		return err
	}
	fmt.Fprint(cmd.ErrOrStderr(), note)
	return writeScript(cmd, path, script)
}

// request says what is to be written. Without a spec it is what the flags name.
func (o pullOptions) request(cmd *cobra.Command) (*spec.Spec, pull.Request, *diag.List, error) {
	reads, problems := &plan.Reads{Path: []string{"public"}}, &diag.List{}
	var s *spec.Spec
	if !o.withoutSpec(cmd) {
		specs, errs := spec.LoadQueries(option(cmd, "file"))
		problems = errs
		if err := invalid(problems); err != nil {
			return nil, pull.Request{}, nil, err
		}
		if len(specs) != 1 {
			return nil, pull.Request{}, nil, several(cmd, specs)
		}
		s = specs[0]
		found, errs := plan.ReadsOf(s)
		problems.Merge(errs)
		reads = found
	}
	for _, table := range o.tables {
		name, err := spec.ParseName(table)
		if err != nil {
			return nil, pull.Request{}, nil, process.Fail(process.Usage, fmt.Sprintf("sluice: --table: %v\n", err))
		}
		reads.Name(diag.Pos{File: "--table"}, name)
	}
	if len(reads.Tables)+len(o.schemas) == 0 && !o.all && problems.Empty() {
		return nil, pull.Request{}, nil, errors.New(nothingToRead)
	}
	return s, pull.Request{Reads: *reads, Schemas: o.schemas, All: o.all, Header: o.header(s)}, problems, invalid(problems)
}

const nothingToRead = "the spec reads no table of the database yet\nhint: name tables with --table, or give --schema or --all"

// withoutSpec reports whether there is no spec and none is needed: the flags say what to write.
func (o pullOptions) withoutSpec(cmd *cobra.Command) bool {
	if cmd.Flags().Changed("file") || !o.all && len(o.tables)+len(o.schemas) == 0 {
		return false
	}
	_, err := os.Stat(option(cmd, "file"))
	return errors.Is(err, fs.ErrNotExist)
}

// header says where the file comes from, the same on every machine and for every copy of the database.
func (o pullOptions) header(s *spec.Spec) string {
	var what []string
	if s != nil {
		what = append(what, "what spec "+s.Extension.Name+" reads")
	}
	for _, schema := range o.schemas {
		what = append(what, "schema "+schema)
	}
	for _, table := range o.tables {
		what = append(what, "table "+table)
	}
	if o.all {
		what = []string{"all tables and views"}
	}
	oneLine := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.Join(what, ", "))
	return pulledMark + "; run it again rather than edit this file.\n" +
		"-- It holds " + oneLine + " and what that needs,\n" +
		"-- but no rows, triggers, policies, grants and comments, and no indexes except unique ones.\n\n"
}

// pullScript asks the database. What is wrong with names is wrong input; what the role may not read is the database's refusal.
func pullScript(cmd *cobra.Command, request pull.Request, problems *diag.List) (pull.Script, error) {
	var script pull.Script
	var refused pull.Refused
	err := withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) error {
		pulled, err := pull.Pull(ctx, conn, request, problems)
		script = pulled
		var unsupported pull.Unsupported
		switch {
		case errors.As(err, &refused):
			return nil
		case errors.As(err, &unsupported):
			return live.Refusal{Message: unsupported.Message, Hint: unsupported.Hint}
		case errors.Is(err, pull.ErrNothing):
			return live.Refusal{Message: "the database holds no table to write", Hint: "look whether it is the right one, and for --table, --schema and --all"}
		}
		return err
	})
	if err != nil {
		return script, err
	}
	if refused.List != nil {
		problems.Merge(refused.List)
		return script, process.Fail(process.Database, invalid(problems).Error())
	}
	return script, invalid(problems)
}
