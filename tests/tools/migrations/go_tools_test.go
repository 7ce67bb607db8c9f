package migrations

import (
	"database/sql"
	"errors"
	"io"
	"net/url"
	"os"
	"testing"

	"github.com/amacneil/dbmate/v2/pkg/dbmate"
	_ "github.com/amacneil/dbmate/v2/pkg/driver/postgres"
	"github.com/golang-migrate/migrate/v4"
	pgxmigrate "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	_ "github.com/golang-migrate/migrate/v4/source/file"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/pgsluice/sluice/generator/migrations"
)

func TestGoose(t *testing.T) {
	follow(t, migrations.Goose, open, func(t *testing.T, dsn, dir string) tool {
		provider, err := goose.NewProvider(goose.DialectPostgres, connection(t, dsn), os.DirFS(dir))
		must(t, err)
		return tool{
			up:   func() error { _, err := provider.Up(t.Context()); return err },
			down: func() error { _, err := provider.Down(t.Context()); return err },
		}
	})
}

func TestGolangMigrate(t *testing.T) {
	follow(t, migrations.GolangMigrate, open, func(t *testing.T, dsn, dir string) tool {
		driver, err := pgxmigrate.WithInstance(connection(t, dsn), &pgxmigrate.Config{})
		must(t, err)
		m, err := migrate.NewWithDatabaseInstance("file://"+dir, "pgx5", driver)
		must(t, err)
		return tool{
			up: func() error {
				if err := m.Up(); !errors.Is(err, migrate.ErrNoChange) {
					return err
				}
				return nil
			},
			down: func() error { return m.Steps(-1) },
		}
	})
}

func TestDbmate(t *testing.T) {
	follow(t, migrations.Dbmate, open, func(t *testing.T, dsn, dir string) tool {
		address, err := url.Parse(dsn)
		must(t, err)
		db := dbmate.New(address)
		db.MigrationsDir, db.AutoDumpSchema, db.Log, db.Strict = []string{dir}, false, io.Discard, true
		return tool{up: db.Migrate, down: db.Rollback}
	})
}

func connection(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}
