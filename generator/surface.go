package generator

import (
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm"
)

// surface adds what users ask about stream tables, the alerts, and the retention of the history.
func (b *builder) surface(view render.Extension) {
	for _, template := range []string{
		"pgt_status", "get_refresh_history", "pgt_waiting", "explain_st", "resume_stream_table", "pgt_comparison", "check_stream_table", "alert", "alert_trigger", "trim_history",
	} {
		b.add("stream_table/"+template+".sql", view)
	}
	if checked := view.Checked(); len(checked) > 0 {
		b.add("stream_table/pgt_check_due.sql", view)
		for _, t := range checked {
			b.addStatement("row", "pgt_tasks: "+t.CheckTask(), "catalog/pgt_task_row.sql", render.Task{Schema: view.Schema(), Task: t.CheckTask()}, "")
		}
	}
	b.addStatement("grant", "public: explain_st", "stream_table/monitor_only.sql", view, "")
	b.addStatement("row", "pgt_tasks: "+render.HistoryTask, "catalog/pgt_task_row.sql", render.Task{Schema: view.Schema(), Task: render.HistoryTask}, "")
}

// strategies says what each strategy does.
var strategies = map[ivm.Strategy]string{
	ivm.MergeRows:   "the rows by which the query changes are added and taken away",
	ivm.MergeGroups: "what their rows change is added to the stored groups",
	ivm.RescanKeys:  "groups that changes touch are computed anew",
	ivm.Recompute:   "everything is computed anew, and the difference is applied",
}

// explanation is what explain_st says of a stream table whatever state it is in.
func explanation(t *render.StreamTable, view *ivm.View, schedule string) []string {
	lines := []string{"stream table: " + t.ID(), "from: " + t.Path + " in the spec", "query:"}
	for _, line := range strings.Split(strings.TrimRight(t.Query, "\n"), "\n") {
		lines = append(lines, "    "+line)
	}
	mode := "refresh mode: " + t.RefreshMode + ", in effect " + t.EffectiveMode
	if t.Reason != "" {
		mode += ": " + t.Reason
	}
	strategy := "strategy: " + t.Strategy
	if does := strategies[ivm.Strategy(t.Strategy)]; does != "" {
		strategy += ": " + does
	}
	var reads []string
	for _, r := range view.Sources {
		reads = append(reads, nameOf(r).Plain())
	}
	return append(lines, mode, strategy, "schedule: "+schedule, "reads: "+strings.Join(reads, ", "), "stored in: "+t.Rows.Plain())
}
