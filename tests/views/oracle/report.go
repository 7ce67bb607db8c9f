package oracle

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// Report is a failure as a script that psql runs, up to the place where the failure shows.
type Report struct {
	Case    *cases.Case
	Failure *Failure
	Mode    string
	Again   string // the command that finds it again
}

// Script is the case as psql reads it. Views stand for the stream tables, and show what those should hold.
func (r Report) Script() string {
	var b strings.Builder
	comment(&b, fmt.Sprintf("seed %d, %s\n%s", r.Case.Seed, r.Mode, r.Again))
	b.WriteString(r.Case.DDL() + r.Case.Inserts())
	for _, v := range r.Case.Views {
		comment(&b, "stream table "+v.Name+", "+r.Mode)
		query := r.Case.SQL(v, func(view string) string { return view })
		b.WriteString("create view " + v.Name + " as\n" + query + ";\n")
	}
	for n, item := range r.Case.Items() {
		if n > r.Failure.Item {
			break
		}
		b.WriteString(item.String() + "\n")
	}
	if r.Failure.View != "" {
		b.WriteString("table " + r.Failure.View + ";\n")
	}
	comment(&b, r.Failure.String())
	return b.String()
}

func comment(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		b.WriteString("-- " + strings.TrimRight(line, "\n") + "\n")
	}
}

// Statements counts those of the script: of the schema, the rows, the views and the steps.
func (r Report) Statements() int {
	n := len(r.Case.Schema) + len(r.Case.Rows) + len(r.Case.Views)
	for _, item := range r.Case.Items() {
		if item.Kind != cases.Check {
			n++
		}
	}
	return n
}
