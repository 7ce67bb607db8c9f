package oracle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Sluice is the subject that all this is for: what the generator makes of a spec, installed as sluice apply does.
type Sluice struct{}

// Install writes a spec, a file for each stream table, generates the extension and applies it.
func (Sluice) Install(ctx context.Context, conn *pgx.Conn, schemaDDL string, views []View, mode string) error {
	extension, errs, err := generate(schemaDDL, views, mode)
	if err != nil {
		return err
	}
	if len(refusals(errs)) > 0 {
		return unsupported(schemaDDL, views, mode)
	}
	if !errs.Empty() {
		return errs
	}
	_, err = commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{})
	return err
}

// Refresh implements Subject. One that finds its changes wrong, and recomputes, is an error.
func (Sluice) Refresh(ctx context.Context, conn *pgx.Conn, view string) error {
	var reason string
	err := conn.QueryRow(ctx, "select r.refresh_id::text from sl.refresh_stream_table($1) r", view).Scan(&reason)
	if err == nil {
		err = conn.QueryRow(ctx, "select coalesce(max(h.reason), '') from sl.pgt_refresh_history h where h.refresh_id = $1::uuid", reason).Scan(&reason)
	}
	if err == nil && strings.Contains(reason, "out of sync") {
		err = fmt.Errorf("%s was recomputed: %s", view, reason)
	}
	return err
}

// Relation implements Subject.
func (Sluice) Relation(view string) string { return "sl." + view }

// Recomputed is Sluice whose stream tables have never seen anything, so that each refresh applies what the query has less what is stored.
type Recomputed struct{ Sluice }

// Refresh implements Subject.
func (r Recomputed) Refresh(ctx context.Context, conn *pgx.Conn, view string) error {
	err := run(ctx, conn, "update sl_internal.pgt_stream_table_state set seen = null, own_xid = null, own_no = null")
	if err == nil {
		err = r.Sluice.Refresh(ctx, conn, view)
	}
	return err
}

// Compared is Sluice where check_stream_table() looks at each stream table before it is refreshed: changes that wait are no difference. In full mode
// they are.
type Compared struct{ Sluice }

// Refresh implements Subject.
func (c Compared) Refresh(ctx context.Context, conn *pgx.Conn, view string) error {
	var differ int64
	err := conn.QueryRow(ctx, `
select coalesce(sum(k.missing + k.extra), 0)::bigint
from sl_internal.pgt_stream_table_config c
cross join lateral sl.check_stream_table(c.stream_table) k
where c.pgt_name = $1 and c.effective_mode <> 'full'`, view).Scan(&differ)
	switch {
	case err != nil:
		return err
	case differ != 0:
		return fmt.Errorf("check_stream_table() says that %s differs from its query in %d rows", view, differ)
	}
	return c.Sluice.Refresh(ctx, conn, view)
}

// generate makes the extension of a spec, as sluice generate does. That it gives up is an error like others.
func generate(schemaDDL string, views []View, mode string) (e *generator.Extension, errs *diag.List, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	dir, err := os.MkdirTemp("", "sluice-oracle-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	for name, text := range specFiles(schemaDDL, views, mode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, nil, err
		}
	}
	specs, errs := spec.Load(dir)
	if !errs.Empty() {
		return nil, errs, nil
	}
	e, errs = generator.Generate(specs[0])
	return e, errs, nil
}

// specFiles are a spec whose stream tables have a file each.
func specFiles(schemaDDL string, views []View, mode string) map[string]string {
	files := map[string]string{
		"schema.sql": schemaDDL,
		"spec.yaml":  "version: 1\nextension: {name: oracle, version: 1.0.0, schema: sl}\nschema: [schema.sql]\n",
	}
	for n, v := range views {
		of := mode
		if mode == Mixed {
			of = []string{AtCommit, Differential}[n%2]
		}
		query := strings.ReplaceAll("\n"+v.Query, "\n", "\n      ")
		files[v.Name+".yaml"] = fmt.Sprintf("version: 1\nstream_tables:\n  - name: %s\n    refresh_mode: %s\n    query: |%s\n", v.Name, of, query)
	}
	return files
}

// refusals are the errors that say that the generator does not do something in the mode, or not yet.
func refusals(errs *diag.List) []diag.Error {
	return slices.DeleteFunc(errs.Errors(), func(e diag.Error) bool { return e.Code != "not-incremental" && e.Code != "not-generated" })
}

// unsupported finds the views that the generator refuses, each alone with those that it reads, as an error may be at the place of
// a plain view.
func unsupported(schemaDDL string, views []View, mode string) error {
	found := Unsupported{}
	for _, v := range views {
		needed := slices.DeleteFunc(slices.Clone(views), func(o View) bool { return o.Name != v.Name && !slices.Contains(v.Reads, o.Name) })
		_, errs, err := generate(schemaDDL, needed, mode)
		if err != nil {
			return err
		}
		if refused := refusals(errs); len(refused) > 0 {
			found[v.Name] = refused[0].Message
		}
	}
	return found
}
