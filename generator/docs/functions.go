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
	{"inbox", "Inboxes"}, {"imperative", "Created at run time"}, {"outbox", "Outboxes"}, {"group", "Consumer groups"}, {"stream_table", "Stream tables"}, {"scheduler", "Background work"}, {"catalog", "Settings"},
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
		for _, o := range w.Objects {
			if room, _, _ := strings.Cut(o.Template, "/"); room == area.id && w.isPublic(o) {
				section.Parts = append(section.Parts, w.routine(o))
			}
		}
		if len(section.Parts) > 0 {
			p.Parts = append(p.Parts, section)
		}
	}
	return p
}

// function links to a function by its name, the first of several.
func (w *writer) function(name string) text {
	if slices.ContainsFunc(w.Objects, func(o upgrade.Object) bool { return w.isPublic(o) && w.nameOf(o) == name }) {
		return linked("function", name)
	}
	return code(name)
}

func (w *writer) routine(o upgrade.Object) part {
	r, err := sqltext.DescribeRoutine(o.SQL)
	if err != nil {
		panic(fmt.Sprintf("docs: %v\n%s", err, o.SQL)) // it was parsed before
	}
	p := part{ID: w.functionID(r.Name), Kind: o.Kind, Title: r.Name, IsName: true, Blocks: []block{paragraph(plain(sentence(o.Comment)))}}
	w.described(o.Kind, o.Signature, p.ID)
	for _, note := range notes(o.SQL) {
		p.Blocks = append(p.Blocks, paragraph(plain(note)))
	}
	p.Blocks = append(p.Blocks, block{SQL: head(r)})
	if errors := w.errors(o); len(errors) > 0 {
		t := &table{Head: []string{"SQLSTATE", "Message begins"}}
		for _, e := range errors {
			t.Rows = append(t.Rows, []text{code(e.state), plain(e.message)})
		}
		p.Blocks = append(p.Blocks, block{Table: t})
	}
	return p
}

// functionID is the anchor of the next function of a name.
func (w *writer) functionID(name string) string {
	w.names[name]++
	if n := w.names[name]; n > 1 {
		name += fmt.Sprintf("-%d", n)
	}
	return anchor("function", name)
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

// constant is a string constant, which may go on in another one on the next line.
const constant = `'(?:[^']|'(?:'|[ ]*\n[ ]*'))*'`

var (
	raised  = regexp.MustCompile(`raise exception using\s+errcode = '([0-9A-Z]{5})',\s+message = ((?s:.*?))(?:,\n|;)`)
	literal = regexp.MustCompile(constant)
	branch  = regexp.MustCompile(`(?:then|else) (` + constant + `)`)
)

// errors are those that a function and the functions that it calls raise, in order.
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
	slices.SortFunc(found, func(a, b failure) int { return strings.Compare(a.state+a.message, b.state+b.message) })
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
