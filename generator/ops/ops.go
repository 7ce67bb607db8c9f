// Package ops writes what people who run an extension need: a dashboard, alerts with runbooks, queries for exporters, units and manifests.
//
// Files call downwards: ops, deploy, pipelines, dashboard, panels, alerts, metrics, names.
package ops

import (
	"strings"

	"github.com/pgsluice/sluice/generator/render"
)

// page is what the template of a runbook knows.
type page struct {
	view
	Alert alert
}

// Files are those of an extension, by their paths below ops/.
func Files(e render.Extension) map[string]string {
	v := newView(e)
	files := deployed(v)
	files["grafana.json"] = render.Must("ops/grafana.json", newDashboard(v))
	queries := struct {
		view
		Queries []query
	}{v, queries(v)}
	for _, exporter := range []string{"postgres_exporter.yaml", "sql_exporter.yaml"} {
		files[exporter] = render.Must("ops/"+exporter, queries)
	}
	all := alerts(v)
	files["alerts.yaml"] = render.Must("ops/alerts.yaml", struct {
		view
		Alerts []alert
	}{v, all})
	for _, a := range all {
		files["runbooks/"+a.Name+".md"] = render.Must("ops/runbook.md", page{v, a}) + "\n" + render.Must("ops/"+a.page()+".md", page{v, a})
	}
	return files
}

// page is the template of the alert's runbook: sluice_inbox_paused of SluiceInboxPaused.
func (a alert) page() string {
	var name strings.Builder
	for n, r := range a.Name {
		if n > 0 && r >= 'A' && r <= 'Z' {
			name.WriteByte('_')
		}
		name.WriteString(strings.ToLower(string(r)))
	}
	return name.String()
}
