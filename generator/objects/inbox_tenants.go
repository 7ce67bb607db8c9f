package objects

import (
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// tenant adds what keeps the messages of tenants apart in the table of an inbox.
func (b *builder) tenant(i render.Inbox) {
	b.add("inbox/tenant_index.sql", i)
	b.addStatement(upgrade.Policy, i.Table.String(), "inbox/tenant_policy.sql", i, dropPolicies(i.Table, "tenant", "monitor"))
}

// tenantClaims adds what claims messages of one tenant.
func (b *builder) tenantClaims(i render.Inbox) {
	b.add("inbox/count_attempt_of_tenant.sql", i)
	b.addStatement("grant", "public: "+i.Tenant.CountFn.String(), "inbox/count_attempt_only.sql", i, "")
	b.add("inbox/claim_of_tenant.sql", i)
}
