package artifact

import "github.com/pgsluice/sluice/generator/ops"

// opsFiles are what people who run the extension need: dashboard, alerts, runbooks, exporters and manifests.
func (e *Extension) opsFiles() Files {
	files := Files{}
	for path, text := range ops.Files(e.view) {
		files[e.Name+"/ops/"+path] = text
	}
	return files
}
