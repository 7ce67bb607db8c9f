package ops

import (
	"strings"

	"github.com/pgsluice/sluice/generator/render"
)

// deployment is what units and manifests know.
type deployment struct {
	view
	Pipelines []pipeline
	Relay     string // the text of relay.yaml; empty without pipelines
}

// deployed are units and manifests that run sluice run, and sluice-relay where there is something to relay.
func deployed(v view) map[string]string {
	d := deployment{view: v, Pipelines: pipelines(v)}
	files := map[string]string{}
	if len(d.Pipelines) > 0 {
		d.Relay = render.Must("ops/relay.yaml", d)
		files["relay.yaml"] = d.Relay
		files["systemd/sluice-relay-"+v.Label+".service"] = render.Must("ops/relay.service", d)
	}
	files["systemd/sluice-run-"+v.Label+".service"] = render.Must("ops/run.service", d)
	for _, name := range []string{"Dockerfile", "compose.yaml", "kubernetes.yaml"} {
		files[name] = render.Must("ops/"+name, d)
	}
	return files
}

// RelayBlock is relay.yaml as a block of YAML.
func (d deployment) RelayBlock() string {
	return strings.ReplaceAll(strings.TrimSuffix(d.Relay, "\n"), "\n", "\n    ")
}

// RelaySchema is the extension's schema as relay.yaml has it.
func (d deployment) RelaySchema() string { return literal(d.SchemaName) }
