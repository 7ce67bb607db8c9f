package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// areas are the rooms of the templates, and what their functions are for.
var areas = []struct{ id, title string }{
	{"inbox", "Inboxes"}, {"wire", "Documents in wire formats"}, {"imperative", "Created at run time"}, {"outbox", "Outboxes"}, {"group", "Consumer groups"}, {"stream_table", "Stream tables"}, {"scheduler", "Background work"}, {"catalog", "Settings"},
}

// isPublic reports whether users call a function.
func (w *writer) isPublic(o upgrade.Object) bool {
	return (o.Kind == "function" || o.Kind == "procedure") && strings.HasPrefix(o.Signature, w.Schema()+".")
}

// nameOf is the name of a function of the extension's schema.
func (w *writer) nameOf(o upgrade.Object) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(o.Signature, w.Schema()+"."), "(")
	return name
}

func (w *writer) functions() part {
	p := part{ID: "functions", Title: "Functions", Blocks: []block{paragraph(say(
		"Errors are listed by their SQLSTATE and how their message begins; each has a detail that names the object and a hint that says what to do. Errors of functions that these call are among them."))}}
	for _, area := range areas {
		section := part{ID: "functions-" + area.id, Title: area.title}
		var names []string
		overloads := map[string][]upgrade.Object{}
		for _, o := range w.Objects {
			if room, _, _ := strings.Cut(o.Template, "/"); room == area.id && w.isPublic(o) {
				name := w.nameOf(o)
				if len(overloads[name]) == 0 {
					names = append(names, name)
				}
				overloads[name] = append(overloads[name], o)
			}
		}
		for _, name := range names {
			section.Parts = append(section.Parts, w.routine(overloads[name]))
		}
		if len(section.Parts) > 0 {
			p.Parts = append(p.Parts, section)
		}
	}
	return p
}

// function links to a function by its name.
func (w *writer) function(name string) text {
	if slices.ContainsFunc(w.Objects, func(o upgrade.Object) bool { return w.isPublic(o) && w.nameOf(o) == name }) {
		return linked("function", name)
	}
	return code(name)
}

// routine describes the functions of a name.
func (w *writer) routine(overloads []upgrade.Object) part {
	var p part
	var errors []failure
	for _, o := range overloads {
		r, err := sqltext.DescribeRoutine(o.SQL)
		if err != nil {
			panic(fmt.Sprintf("docs: %v\n%s", err, o.SQL)) // it was parsed before
		}
		p.ID, p.Kind, p.Title, p.IsName = anchor("function", r.Name), o.Kind, r.Name, true
		w.described(o.Kind, o.Signature, p.ID)
		for _, text := range append([]string{sentence(o.Comment)}, notes(o.SQL)...) {
			if !slices.ContainsFunc(p.Blocks, func(b block) bool { return len(b.Text) > 0 && b.Text[0].Text == text }) {
				p.Blocks = append(p.Blocks, paragraph(plain(text)))
			}
		}
		p.Blocks = append(p.Blocks, block{SQL: head(r)})
		for _, e := range w.errors(o) {
			if !slices.Contains(errors, e) {
				errors = append(errors, e)
			}
		}
	}
	if len(errors) > 0 {
		slices.SortFunc(errors, byState)
		t := &table{Head: []string{"SQLSTATE", "Message begins"}}
		for _, e := range errors {
			t.Rows = append(t.Rows, []text{code(e.state), plain(e.message)})
		}
		p.Blocks = append(p.Blocks, block{Table: t})
	}
	return p
}

// notes are the paragraphs of a leading comment after the first, which is the object's comment.
func notes(sql string) []string {
	var paragraphs []string
	begin := true
	for n, line := range strings.Split(sql, "\n") {
		comment, is := strings.CutPrefix(line, "--")
		comment = strings.TrimSpace(comment)
		switch {
		case !is:
			return paragraphs
		case comment == "":
			begin = true
		case begin && n > 0:
			paragraphs, begin = append(paragraphs, comment), false
		case len(paragraphs) > 0:
			paragraphs[len(paragraphs)-1] += " " + comment
		default:
			begin = false
		}
	}
	return paragraphs
}

// head is how a function is called and what it returns.
func head(r sqltext.Routine) string {
	text := sqltext.Qualified(r.Schema, r.Name) + params(r.Params)
	switch {
	case len(r.Columns) > 0:
		text += "\n    returns table " + params(r.Columns)
	case r.Returns != "":
		text += "\n    returns " + typeName(r.Returns)
	}
	return text
}

// params are on one line if they fit.
func params(list []sqltext.Param) string {
	var parts []string
	for _, p := range list {
		part := sqltext.Ident(p.Name) + " " + typeName(p.Type)
		if p.Default != "" {
			part += " default " + p.Default
		}
		parts = append(parts, part)
	}
	if text := "(" + strings.Join(parts, ", ") + ")"; len(text) <= 80 {
		return text
	}
	return "(\n        " + strings.Join(parts, ",\n        ") + ")"
}

// failure is an error that a function raises.
type failure struct{ state, message string }

func byState(a, b failure) int { return strings.Compare(a.state+a.message, b.state+b.message) }

// constant is a string constant, which may go on in another one on the next line.
const constant = `'(?:[^']|'(?:'|[ ]*\n[ ]*'))*'`

var (
	raised  = regexp.MustCompile(`raise exception using\s+errcode = '([0-9A-Z]{5})',\s+message = ((?s:.*?))(?:,\n|;)`)
	literal = regexp.MustCompile(constant)
	branch  = regexp.MustCompile(`(?:then|else) (` + constant + `)`)
)

// errors are those that a function and the functions that it calls raise.
func (w *writer) errors(o upgrade.Object) []failure {
	var found []failure
	seen := map[string]bool{}
	var visit func(o upgrade.Object)
	visit = func(o upgrade.Object) {
		if seen[o.ID()] {
			return
		}
		seen[o.ID()] = true
		for _, match := range raised.FindAllStringSubmatch(o.SQL, -1) {
			for _, message := range messages(match[2]) {
				f := failure{match[1], w.unnamed(o, message)}
				if !strings.HasPrefix(f.state, "SLR") && !slices.Contains(found, f) { // those are caught
					found = append(found, f)
				}
			}
		}
		for _, need := range o.Needs {
			if kind, name, _ := strings.Cut(need, " "); kind == "function" && !strings.HasPrefix(o.Template, "scheduler/") {
				if called, _ := w.object(kind, name); called.Template != "imperative/pgt_inbox_script" { // whose text is that of other functions
					visit(called)
				}
			}
		}
	}
	visit(o)
	return found
}

// unnamed is a message without the name of the inbox or stream table that its function is of: there are others alike.
func (w *writer) unnamed(o upgrade.Object, message string) string {
	if o.Shared {
		return message
	}
	for _, i := range w.Inboxes {
		message = strings.ReplaceAll(message, "inbox "+i.Name+" ", "inbox … ")
	}
	for _, t := range w.StreamTables {
		message = strings.ReplaceAll(message, "stream table "+t.ID()+" ", "stream table … ")
	}
	return message
}

// messages are what can be said of an expression for a message: its literals, and dots for the rest; one for each branch of a case.
func messages(expression string) []string {
	branches, rest := []string{""}, expression
	if after, is := strings.CutPrefix(strings.TrimSpace(expression), "case"); is {
		between, end, _ := strings.Cut(after, "end")
		branches, rest = nil, end
		for _, b := range branch.FindAllStringSubmatch(between, -1) {
			branches = append(branches, unquoted(b[1]))
		}
	}
	end := literals(rest)
	for n := range branches {
		branches[n] += end
	}
	return branches
}

// literals are those of a concatenation, with dots for what stands between them.
func literals(expression string) string {
	var out strings.Builder
	for _, operand := range strings.Split(expression, "||") {
		operand = strings.TrimPrefix(strings.TrimSpace(operand), "format(")
		if at := literal.FindStringIndex(operand); at != nil && at[0] == 0 {
			out.WriteString(unquoted(operand[at[0]:at[1]]))
		} else if operand != "" {
			out.WriteString("…")
		}
	}
	if out.String() == "…" {
		return "what is wrong"
	}
	return out.String()
}

func unquoted(s string) string {
	return strings.ReplaceAll(sqltext.Constant(s), "%s", "…")
}
