package isolation

import (
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestTenants interleaves sessions of two tenants and of the owner in one inbox.
func TestTenants(t *testing.T) {
	extension := installed.Text(t, `
version: 1
extension: {name: tenants, version: 1.0.0}
roles: {producer: tenants_producer, consumer: tenants_consumer}
inboxes:
  - {name: orders, tenant: tenant_id}
`)
	RunDir(t, "tenants", func(t testing.TB) *pgtest.Database {
		// Each case has a server of its own, and so roles of its own.
		super := pgtest.Connect(t, pgtest.Server(t).DSN("postgres"))
		for _, sql := range []string{
			pgtest.MakeRoles("tenants_producer", "tenants_consumer", "tenants_both"),
			"grant tenants_producer, tenants_consumer to tenants_both", "grant tenants_both to " + pgtest.Owner,
		} {
			if _, err := super.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		return installed.DB(t, extension)
	})
}
