package artifact

import "github.com/pgsluice/sluice/generator/render"

// jobFiles schedule the extension with pg_cron.
func (e *Extension) jobFiles() Files {
	files := Files{}
	for name, template := range map[string]string{
		"pg_cron_1.4.sql": "ops/pg_cron_1.4.sql",
		"pg_cron_1.5.sql": "ops/pg_cron_1.5.sql",
		"grant.sql":       "ops/pg_cron_grant.sql",
		"remove.sql":      "ops/pg_cron_remove.sql",
	} {
		files[e.Name+"/jobs/"+name] = render.Must(template, e.view)
	}
	return files
}
