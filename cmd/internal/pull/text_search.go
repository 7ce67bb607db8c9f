package pull

import (
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// collationRow is a row of collations.sql.
type collationRow struct {
	OID           int64
	Schema, Name  string
	Provider      string
	Locale        string // of icu and builtin; icu had it in Collate up to version 14
	Collate       string
	CType         string
	Deterministic bool
	Rules         string
}

// collations writes collations, without the version of the library that they were made with.
func (w *writer) collations(class string, oids []int64) error {
	all, err := rows[collationRow](w.database, "collations", oids)
	for _, c := range all {
		name := sqltext.Qualified(c.Schema, c.Name)
		w.put(class, c.OID, item{
			rank: rankCollation, name: sortKey(c.Schema, c.Name),
			what: "collation " + name, text: "create collation " + name + " " + lines(c.options()),
		})
	}
	return err
}

func (c collationRow) options() []string {
	all := []string{"provider = " + c.Provider}
	switch {
	case c.Locale != "":
		all = append(all, "locale = "+literal(c.Locale))
	case c.Collate == c.CType:
		all = append(all, "locale = "+literal(c.Collate))
	default:
		all = append(all, "lc_collate = "+literal(c.Collate), "lc_ctype = "+literal(c.CType))
	}
	if !c.Deterministic {
		all = append(all, "deterministic = false")
	}
	if c.Rules != "" {
		all = append(all, "rules = "+literal(c.Rules))
	}
	return all
}

// dictionary is a row of dictionaries.sql.
type dictionary struct {
	OID          int64
	Schema, Name string
	Template     string
	Options      string // as CREATE writes them
}

// dictionaries writes text search dictionaries.
func (w *writer) dictionaries(class string, oids []int64) error {
	all, err := rows[dictionary](w.database, "dictionaries", oids)
	for _, d := range all {
		name := sqltext.Qualified(d.Schema, d.Name)
		elements := []string{"template = " + d.Template}
		if d.Options != "" {
			elements = append(elements, d.Options)
		}
		w.put(class, d.OID, item{
			rank: rankType, name: sortKey(d.Schema, d.Name),
			what: "text search dictionary " + name, text: "create text search dictionary " + name + " " + lines(elements),
		})
	}
	return err
}

// configuration is a row of configurations.sql.
type configuration struct {
	OID          int64
	Schema, Name string
	Parser       string
	Mappings     []string
}

// configurations writes text search configurations with their mappings.
func (w *writer) configurations(class string, oids []int64) error {
	all, err := rows[configuration](w.database, "configurations", oids)
	for _, c := range all {
		name := sqltext.Qualified(c.Schema, c.Name)
		text := "create text search configuration " + name + " (parser = " + c.Parser + ")"
		for _, mapping := range c.Mappings {
			text += ";\nalter text search configuration " + name + " add mapping for " + mapping
		}
		w.put(class, c.OID, item{rank: rankType, name: sortKey(c.Schema, c.Name), what: "text search configuration " + name, text: text})
	}
	return err
}
