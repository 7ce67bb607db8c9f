package docs

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"

	"github.com/pgsluice/sluice/templates"
)

// markdown is a reference for people who read it where the code is.
func (r reference) markdown() (string, error) {
	t, err := parse(func(id string) string { return "#" + id })
	if err != nil {
		return "", err
	}
	return execute(t, "reference.md.tmpl", r)
}

// parse reads the templates of Markdown. href is the address of an anchor, or empty where nothing leads there.
func parse(href func(id string) string) (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"inline": func(t text) string { return inline(t, false, href) },
		"cell":   func(t text) string { return inline(t, true, href) },
		"fence":  fence, "heading": heading, "escape": escape, "name": code,
	}).ParseFS(templates.FS, "docs/*.md.tmpl")
}

func execute(t *template.Template, name string, data any) (string, error) {
	var out bytes.Buffer
	err := t.ExecuteTemplate(&out, name, data)
	return strings.TrimSpace(out.String()) + "\n", err
}

// inline writes a line of text; within a table, bars are escaped in code too.
func inline(t text, cell bool, href func(id string) string) string {
	var out strings.Builder
	for _, s := range t {
		text := strings.Join(strings.Fields(s.Text), " ")
		if !s.Code {
			text = escape(spaced(s.Text))
		} else {
			text = codeSpan(text)
			if cell {
				text = strings.ReplaceAll(text, "|", `\|`)
			}
		}
		if s.ID != "" {
			text = fmt.Sprintf(`<a id="%s"></a>%s`, s.ID, text)
		} else if s.Link != "" {
			if address := href(s.Link); address != "" {
				text = fmt.Sprintf("[%s](%s)", text, address)
			}
		}
		out.WriteString(text)
	}
	return out.String()
}

// spaced makes one line of text and keeps blanks at its ends.
func spaced(s string) string { return strings.Join(strings.Split(s, "\n"), " ") }

// escape makes Markdown show text as it is. Underscores within words mean nothing there.
func escape(s string) string {
	var out strings.Builder
	runes := []rune(s)
	word := func(n int) bool {
		return n >= 0 && n < len(runes) && (runes[n] == '_' || runes[n] >= '0' && runes[n] <= '9' || runes[n]|32 >= 'a' && runes[n]|32 <= 'z')
	}
	for n, r := range runes {
		if strings.ContainsRune("\\`*[]<>|~&#", r) || r == '_' && (!word(n-1) || !word(n+1)) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// codeSpan puts text between as many backticks as it takes.
func codeSpan(s string) string {
	if s == "" {
		return ""
	}
	ticks := "`"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// fence puts SQL into a block that nothing in it ends.
func fence(sql string) string {
	ticks := "```"
	for strings.Contains(sql, ticks) {
		ticks += "`"
	}
	return ticks + "sql\n" + strings.TrimRight(sql, "\n") + "\n" + ticks
}

func heading(level int) string { return strings.Repeat("#", level) }
