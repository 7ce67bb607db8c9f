package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// relation describes a table or view of the extension by its comment and its columns.
func (w *writer) relation(name render.Name, kind, of string) part {
	o, ok := w.object(kind, name.String())
	if !ok {
		panic(fmt.Sprintf("docs: no %s %s", kind, name))
	}
	p := part{ID: anchor(kind, name.String()), Kind: kind, Title: name.String(), IsName: true, Blocks: []block{paragraph(plain(sentence(o.Comment)))}}
	w.described(kind, name.String(), p.ID)
	p.Blocks = append(p.Blocks, block{Table: columnsOf(kind, o.SQL, of)})
	return p
}

// columnsOf is the table of a relation's columns: what the SQL says of them, and what columns says.
func columnsOf(kind, sql, of string) *table {
	if kind != "table" {
		return viewColumns(of)
	}
	definition, err := sqltext.DefineTable(sql)
	if err != nil {
		panic(fmt.Sprintf("docs: %v\n%s", err, sql)) // it was parsed before
	}
	meanings := map[string]string{}
	for _, c := range columns[of] {
		meanings[c.name] = c.meaning
	}
	t := &table{Head: []string{"Column", "Type", "Null", "Default", "Meaning"}}
	for _, c := range definition.Columns {
		null := "yes"
		if c.NotNull || slices.Contains(definition.Key, c.Name) {
			null = "no"
		}
		standard := text{}
		if c.Generated != "" {
			standard = plain("computed")
		} else if strings.Contains(c.Default, "current_setting(") {
			standard = plain("of the session")
		} else if len(c.Default) > 30 {
			standard = plain("drawn")
		} else if c.Default != "" {
			standard = code(c.Default)
		}
		t.Rows = append(t.Rows, []text{code(c.Name), code(typeName(c.Type)), plain(null), standard, say(meanings[c.Name])})
	}
	return t
}

func viewColumns(of string) *table {
	t := &table{Head: []string{"Column", "Type", "Meaning"}}
	for _, c := range columns[of] {
		t.Rows = append(t.Rows, []text{code(c.name), code(c.typ), say(c.meaning)})
	}
	return t
}

// typeName is a type as PostgreSQL shows it, but for the short names that people write.
func typeName(typ string) string {
	if typ == "int" {
		return "integer"
	}
	return typ
}

// catalog describes the tables and views that all inboxes, outboxes and stream tables share.
func (w *writer) catalog() part {
	about := say("What is installed and how it is doing, as tables and views. They are for reading.")
	if len(w.SettingsInForce()) > 0 {
		about = say("What is installed and how it is doing, as tables and views. They are for reading; only `%s` is there to be changed, by its owner.", w.In("pgt_settings").String())
	}
	p := part{ID: "catalog", Title: "Catalog", Blocks: []block{paragraph(about)}}
	for _, name := range catalogOrder {
		for _, full := range []render.Name{w.In(name), w.InInternal(name)} {
			for _, kind := range []string{"table", "view"} {
				if _, there := w.object(kind, full.String()); there {
					p.Parts = append(p.Parts, w.relation(full, kind, name))
				}
			}
		}
	}
	return p
}

// sentence gives a comment the dot that it may lack.
func sentence(s string) string {
	if s == "" || s[len(s)-1] == '.' {
		return s
	}
	return s + "."
}
