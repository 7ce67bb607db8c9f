package ops

import (
	"encoding/json"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// TestDashboard reads the dashboard by Grafana's own types, which refuse unknown fields, and checks its queries and its layout.
func TestDashboard(t *testing.T) {
	cog.NewRuntime().RegisterDataqueryVariant(prometheus.VariantConfig())
	cog.NewRuntime().RegisterPanelcfgVariant(timeseries.VariantConfig())
	served := served(t)
	eachSpec(t, func(t *testing.T, files map[string]string) {
		var d dashboard.Dashboard
		// The strict function returns an error without text where it finds nothing, and then leaves out panels.
		if err := new(dashboard.Dashboard).UnmarshalJSONStrict([]byte(files["grafana.json"])); err != nil && err.Error() != "" {
			t.Error(err)
		}
		if err := json.Unmarshal([]byte(files["grafana.json"]), &d); err != nil {
			t.Fatal(err)
		}
		if len(d.Panels) < 9 || *d.Title == "" || *d.Uid == "" {
			t.Errorf("the dashboard has %d panels", len(d.Panels))
		}
		if err := d.Validate(); err != nil {
			t.Error(err)
		}
		ids, places := map[uint32]bool{}, map[[2]uint32]string{}
		for _, entry := range d.Panels {
			var id uint32
			var at dashboard.GridPos
			var title string
			if p := entry.Panel; p != nil {
				id, at, title = *p.Id, *p.GridPos, *p.Title
				checkTargets(t, served, p)
			} else {
				id, at, title = entry.RowPanel.Id, *entry.RowPanel.GridPos, *entry.RowPanel.Title
			}
			if ids[id] || id == 0 {
				t.Errorf("panel %s has id %d, which is taken", title, id)
			}
			ids[id] = true
			for x := at.X; x < at.X+at.W; x++ {
				for y := at.Y; y < at.Y+at.H; y++ {
					if other := places[[2]uint32{x, y}]; other != "" || x >= 24 {
						t.Fatalf("panel %s lies over %q or beyond the grid", title, other)
					}
					places[[2]uint32{x, y}] = title
				}
			}
		}
	})
}

func checkTargets(t *testing.T, served map[string]bool, p *dashboard.Panel) {
	t.Helper()
	if len(p.Targets) == 0 {
		t.Errorf("panel %s shows nothing", *p.Title)
	}
	for _, target := range p.Targets {
		text, err := json.Marshal(target)
		if err != nil {
			t.Fatal(err)
		}
		var query struct{ Expr string }
		if err := json.Unmarshal(text, &query); err != nil || query.Expr == "" {
			t.Fatalf("panel %s has no query in %s: %v", *p.Title, text, err)
		}
		checkPromQL(t, served, query.Expr)
	}
}
