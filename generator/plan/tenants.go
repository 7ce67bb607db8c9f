package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// tenantOf is what keeps the messages of an inbox apart.
func tenantOf(s *spec.Spec, i *spec.Inbox) *render.Tenant {
	internal := func(suffix string) render.Name { return schemasOf(s).InInternal(spec.DerivedName(i.Name + suffix)) }
	t := &render.Tenant{
		Index:   render.Name{Schema: i.DerivedSchema(s.Extension), Name: spec.DerivedName(i.Name + "_tenant")},
		ClaimFn: internal("_claim_of_tenant"), CountFn: internal("_count_attempt"),
	}
	for _, monitor := range []string{s.Roles.Monitor, i.Roles.Monitor} {
		if monitor != "" && !slices.Contains(t.Monitors, monitor) {
			t.Monitors = append(t.Monitors, monitor)
		}
	}
	return t
}
