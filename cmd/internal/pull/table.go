package pull

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// tableRow is a row of tables.sql.
type tableRow struct {
	OID          int64
	Schema, Name string
	Kind         string
	Unlogged     bool
	Partition    bool
	Of           string // the composite type of a typed table
	Key          string // of a partitioned table
	Bound        string // of a partition
	Parents      []int64
	Secured      bool // row-level security is on
	Forced       bool // for the owner too
	Server       string
	Options      []string // of a foreign table, name=value
}

// column names a column.
type column struct {
	relation int64
	name     string
}

// columnRow is a row of columns.sql.
type columnRow struct {
	Relation   int64
	Name       string
	Type       string
	Collation  string // if it is not the type's
	NotNull    bool
	NotNullAs  string // the name of the constraint, if the server keeps it
	NoInherit  bool   // of the constraint
	Valid      bool   // the constraint holds for rows that were there before it
	Identity   string
	Generated  string
	DefaultOID int64
	Default    string
	Options    []string // of a foreign table's column, name=value
}

func (t tableRow) sql() string { return sqltext.Qualified(t.Schema, t.Name) }

// tables writes tables, and what puts them below others.
func (w *writer) tables(byKind map[string][]int64) error {
	all, err := rows[tableRow](w.database, "tables", byKind["table"])
	if err != nil {
		return err
	}
	columns, err := w.columns(byKind["table"])
	if err != nil {
		return err
	}
	names := map[int64]string{}
	for _, t := range all {
		names[t.OID] = t.sql()
		w.table(t, columns[t.OID])
	}
	for _, t := range all {
		w.attach(t, names)
	}
	return nil
}

// columns returns the columns of tables and composite types.
func (w *writer) columns(oids []int64) (map[int64][]columnRow, error) {
	all, err := rows[columnRow](w.database, "columns", oids)
	byRelation := map[int64][]columnRow{}
	for _, c := range all {
		byRelation[c.Relation] = append(byRelation[c.Relation], c)
	}
	return byRelation, err
}

// table writes one table with its columns, keys and checks.
func (w *writer) table(t tableRow, columns []columnRow) {
	o := object{"pg_class", t.OID}
	var elements []string
	for _, c := range columns {
		if element := w.column(t, c); element != "" {
			elements = append(elements, element)
		}
		w.separateDefault(t, c)
	}
	elements = append(elements, w.inline[o]...)
	text := t.create(w.graph[o].member, elements)
	if !w.graph[o].member {
		text += t.after(columns) + w.ownedBy(t)
	}
	w.items[o] = item{rank: rankTable, name: sortKey(t.Schema, t.Name), what: "table " + t.sql(), text: text}
}

// create is the CREATE statement; what an extension has made already is left as it is.
func (t tableRow) create(member bool, elements []string) string {
	var b strings.Builder
	b.WriteString("create ")
	switch {
	case t.Kind == "f":
		b.WriteString("foreign ")
	case t.Unlogged:
		b.WriteString("unlogged ")
	}
	b.WriteString("table ")
	if member {
		b.WriteString("if not exists ")
	}
	b.WriteString(t.sql())
	if t.Of != "" {
		b.WriteString(" of " + t.Of)
	}
	if t.Of == "" || len(elements) > 0 {
		b.WriteString(" " + lines(elements))
	}
	if t.Key != "" {
		b.WriteString("\npartition by " + definition(t.Key))
	}
	if t.Kind == "f" {
		b.WriteString("\nserver " + sqltext.Ident(t.Server))
		b.WriteString(optionClause("\n", t.Options))
	}
	return b.String()
}

// optionClause is OPTIONS with what stands before it, or nothing.
func optionClause(before string, all []string) string {
	if len(all) == 0 {
		return ""
	}
	return before + "options (" + options(all) + ")"
}

// after is what CREATE TABLE cannot say.
func (t tableRow) after(columns []columnRow) string {
	var b strings.Builder
	say := func(clause string) { b.WriteString(";\n\nalter table only " + t.sql() + " " + clause) }
	for _, c := range columns {
		if c.NotNull && !c.Valid {
			say("add constraint " + sqltext.Ident(c.NotNullAs) + " not null " + sqltext.Ident(c.Name) + inheritance(c) + " not valid")
		}
	}
	if t.Secured {
		say("enable row level security")
	}
	if t.Forced {
		say("force row level security")
	}
	return b.String()
}

func inheritance(c columnRow) string {
	if c.NoInherit {
		return " no inherit"
	}
	return ""
}

// ownedBy gives sequences to the columns of a table.
func (w *writer) ownedBy(t tableRow) string {
	var b strings.Builder
	for _, s := range w.owned[t.OID] {
		b.WriteString(";\n\nalter sequence " + sqltext.Qualified(s.Schema, s.Name) + " owned by " + t.sql() + "." + sqltext.Ident(s.OwnerColumn))
	}
	return b.String()
}

// attach puts a table below those that it inherits from or is a partition of, after all that must match is there.
func (w *writer) attach(t tableRow, names map[int64]string) {
	if len(t.Parents) == 0 || w.graph[object{"pg_class", t.OID}].member {
		return
	}
	n := w.graph.node(object{"pg_inherits", t.OID})
	var statements []string
	for _, oid := range append([]int64{t.OID}, t.Parents...) {
		o := object{"pg_class", oid}
		n.needs[o] = true
		for follower := range w.graph[o].follows {
			n.needs[follower] = true
		}
	}
	for _, parent := range t.Parents {
		if t.Partition {
			statements = append(statements, "alter table only "+names[parent]+" attach partition "+t.sql()+" "+definition(t.Bound))
		} else {
			statements = append(statements, "alter table only "+t.sql()+" inherit "+names[parent])
		}
	}
	w.items[n.object] = item{rank: rankAfterTable, name: sortKey(t.Schema, t.Name), what: "table " + t.sql(), text: strings.Join(statements, ";\n\n")}
}
