package live

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/artifact"
)

// InstalledVersion is a version that was installed in a database.
type InstalledVersion struct {
	No          int       `json:"no" db:"no"`
	Version     string    `json:"version" db:"version"`
	From        *string   `json:"from" db:"previous"` // the version before it; nil for the first
	Downgrade   bool      `json:"downgrade" db:"-"`
	Way         string    `json:"way" db:"way"`
	Flavour     string    `json:"flavour" db:"flavour"`
	Role        string    `json:"role" db:"role_name"`
	InstalledAt time.Time `json:"installed_at" db:"installed_at"`
	Digest      string    `json:"digest" db:"digest"`
}

// History is what was installed in a schema of a database, oldest first.
type History struct {
	Extension string             `json:"extension"`
	Schema    string             `json:"schema"`
	Versions  []InstalledVersion `json:"versions"`
}

const historyQuery = `
	select h.no, h.version, lag(h.version) over (order by h.no) as previous, h.way, h.flavour, h.role_name::text, h.installed_at, h.digest
	from %[2]s.pgt_version_history h
	order by h.no`

// ReadHistory reads which versions were installed, in one snapshot. It returns a Refusal if nothing is.
func ReadHistory(ctx context.Context, conn *pgx.Conn, schema string) (*History, error) {
	history := &History{Schema: schema}
	err := within(ctx, conn, beginReadOnly, func(tx pgx.Tx) error {
		found, err := installed(ctx, tx, schema)
		if err == nil && found.Name == "" {
			err = nothingIn(tx, schema)
		}
		if err == nil {
			history.Extension = found.Name
			history.Versions, err = collect[InstalledVersion](reader{ctx, tx, schema}, historyQuery)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for n := range history.Versions {
		v := &history.Versions[n]
		v.Downgrade = v.From != nil && artifact.IsDowngrade(*v.From, v.Version)
	}
	return history, nil
}

// nothingIn refuses to look at a schema that has no extension.
func nothingIn(tx pgx.Tx, schema string) Refusal {
	return Refusal{fmt.Sprintf("nothing is installed in schema %s of database %s", schema, tx.Conn().Config().Database),
		"\"sluice apply\" installs it; if it is in another schema, give --schema, or -f with its spec"}
}
