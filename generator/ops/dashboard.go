package ops

import (
	"crypto/sha256"
	"encoding/hex"
)

// dashboard is what the template of Grafana's JSON knows.
type dashboard struct {
	view
	UID    string
	Panels []panel
}

// panel is a panel of Grafana, or a row.
type panel struct {
	ID          int          `json:"id"`
	Type        string       `json:"type"`
	Title       string       `json:"title"`
	GridPos     gridPos      `json:"gridPos"`
	Datasource  *datasource  `json:"datasource,omitempty"`
	FieldConfig *fieldConfig `json:"fieldConfig,omitempty"`
	Targets     []target     `json:"targets,omitempty"`
	Collapsed   *bool        `json:"collapsed,omitempty"`
	Panels      *[]panel     `json:"panels,omitempty"`
}

// gridPos is a place on a grid of 24 columns.
type gridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type fieldConfig struct {
	Defaults  fieldDefaults `json:"defaults"`
	Overrides []struct{}    `json:"overrides"`
}

type fieldDefaults struct {
	Unit string `json:"unit"`
	Min  int    `json:"min"`
}

type target struct {
	RefID  string `json:"refId"`
	Expr   string `json:"expr"`
	Legend string `json:"legendFormat"`
}

const (
	columns = 24
	height  = 8 // of a chart
)

func newDashboard(v view) dashboard {
	digest := sha256.Sum256([]byte(v.Extension.Extension))
	d := dashboard{view: v, UID: "sluice-" + hex.EncodeToString(digest[:6])}
	y := 0
	for _, r := range rows(v) {
		d.Panels = append(d.Panels, panel{ID: len(d.Panels) + 1, Type: "row", Title: r.title, GridPos: gridPos{1, columns, 0, y}, Collapsed: new(bool), Panels: &[]panel{}})
		y++
		width := columns / len(r.panels)
		for n, c := range r.panels {
			p := c.panel()
			p.ID, p.GridPos = len(d.Panels)+1, gridPos{height, width, n * width, y}
			d.Panels = append(d.Panels, p)
		}
		y += height
	}
	return d
}

// panel is the chart without its place.
func (c chart) panel() panel {
	p := panel{
		Type: "timeseries", Title: c.title, Datasource: &datasource{"prometheus", "${datasource}"},
		FieldConfig: &fieldConfig{fieldDefaults{Unit: c.unit}, []struct{}{}},
	}
	for n, s := range c.series {
		p.Targets = append(p.Targets, target{string(rune('A' + n)), s.expr, s.legend})
	}
	return p
}
