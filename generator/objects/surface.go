package objects

import "github.com/pgsluice/sluice/generator/render"

// surface adds the functions by which users inspect stream tables, the alerts, and retention.
func (b *builder) surface(view render.Extension) {
	for _, template := range []string{
		"pgt_status", "get_refresh_history", "pgt_waiting", "explain_st", "suspend_stream_table", "resume_stream_table", "check_stream_table", "alert", "alert_trigger", "pgt_prune",
		"pgt_check_due",
	} {
		b.add("stream_table/"+template+".sql", view)
	}
	for _, t := range view.Checked() {
		b.addTask(view.Schemas, t.CheckTask(), streamTableSection)
	}
	b.addStatement("grant", "public: explain_st", "stream_table/monitor_only.sql", view, "")
	if len(view.Sources) > 0 {
		b.addTask(view.Schemas, render.PruneTask, sharedSection)
	}
	b.addTask(view.Schemas, render.HistoryTask, sharedSection)
}
