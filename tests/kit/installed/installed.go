// Package installed gives tests databases in which the extension of a spec is installed.
package installed

import (
	"context"
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// Shop is the directory of the sample spec.
func Shop() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "specs", "shop")
}

// Load generates the extension of the spec at a path, as the next version after those that were released.
func Load(t testing.TB, path string, released ...upgrade.Manifest) *generator.Extension {
	t.Helper()
	specs, errs := spec.Load(path)
	if !errs.Empty() || len(specs) != 1 {
		t.Fatalf("%s: %d specs: %v", path, len(specs), errs)
	}
	extension, errs := generator.Generate(specs[0], released...)
	if !errs.Empty() {
		t.Fatalf("%s: %v", path, errs)
	}
	return extension
}

// Text generates the extension of a spec that is given as YAML.
func Text(t testing.TB, yaml string) *generator.Extension {
	t.Helper()
	return Over(t, yaml, "")
}

// Over generates the extension of a spec that is given as YAML, beside its schema.sql.
func Over(t testing.TB, yaml, ddl string) *generator.Extension {
	t.Helper()
	return OverReleased(t, yaml, ddl)
}

// OverReleased is Over with the versions that were released before.
func OverReleased(t testing.TB, yaml, ddl string, released ...upgrade.Manifest) *generator.Extension {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"spec.yaml": yaml, "schema.sql": ddl} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Load(t, filepath.Join(dir, "spec.yaml"), released...)
}

// DB is a database of the test's own with the extension installed by its plain owner.
func DB(t testing.TB, extension *generator.Extension) *pgtest.Database {
	t.Helper()
	return pgtest.DB(t, Template(t, extension))
}

// Template is the template of DB, made once for each extension.
func Template(t testing.TB, extension *generator.Extension) string {
	t.Helper()
	name := fmt.Sprintf("%x", md5.Sum([]byte(extension.Name+extension.Digest())))
	return pgtest.Template(t, name[:12], func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, extension.Install(generator.Plain))
		return err
	})
}

// ShopDB is DB with the sample spec.
func ShopDB(t testing.TB) *pgtest.Database {
	t.Helper()
	return DB(t, Load(t, Shop()))
}
