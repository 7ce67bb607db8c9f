package pull

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Script is DDL.
type Script struct {
	SQL           string
	Tables, Views int // how many it makes, partitions included
	Others        int // what else it makes: types, functions, schemas and so on
}

// Ranks of statements: among those that may come next, the lowest does.
const (
	rankPart = iota // of another object
	rankSchema
	rankExtension
	rankCollation
	rankType
	rankRoutine
	rankOperator
	rankSequence
	rankAfterTable
	rankTable
	rankView
)

// item is an object that the script writes.
type item struct {
	rank int
	name string // orders items of a rank
	what string // for messages
	text string // statements without the last semicolon; empty if another item writes the object
}

// writer turns objects into statements.
type writer struct {
	*database
	graph graph
	items map[object]item

	// What some objects leave to be written with others.
	inline     map[object][]string  // constraints of a table or domain
	identities map[column]sequence  // of identity columns
	owned      map[int64][]sequence // by the table of the column
}

// preamble makes names and function bodies mean the same for every session that reads the script.
const preamble = `set client_encoding = 'UTF8';
set standard_conforming_strings = on;
set check_function_bodies = false;
set search_path = '';
`

// script writes tables and views and what they need.
func (db *database) script(request Request, reads []int64) (Script, error) {
	others, operators, err := db.uses(request.Reads)
	if err != nil {
		return Script{}, err
	}
	g, err := db.collect(reads, others, operators)
	if err != nil {
		return Script{}, err
	}
	w := newWriter(db, g)
	if err := w.write(); err != nil {
		return Script{}, err
	}
	order, err := w.order()
	if err != nil {
		return Script{}, err
	}
	keys, err := w.foreignKeys()
	if err != nil {
		return Script{}, err
	}
	return w.assemble(request.Header, order, keys), nil
}

func newWriter(db *database, g graph) *writer {
	return &writer{
		database: db, graph: g, items: map[object]item{},
		inline: map[object][]string{}, identities: map[column]sequence{}, owned: map[int64][]sequence{},
	}
}

// assemble joins the statements, with an empty line between them.
func (w *writer) assemble(header string, order []object, foreignKeys []string) Script {
	var s Script
	blocks := []string{header + preamble}
	for _, o := range order {
		i := w.items[o]
		switch {
		case i.text == "":
			continue
		case i.rank == rankTable:
			s.Tables++
		case i.rank == rankView:
			s.Views++
		case i.rank != rankAfterTable:
			s.Others++
		}
		blocks = append(blocks, i.text+";\n")
	}
	for _, key := range foreignKeys {
		blocks = append(blocks, key+";\n")
	}
	s.SQL = strings.Join(blocks, "\n")
	return s
}

// catalogs says what writes the objects of each catalog, in the order in which they are asked for.
var catalogs = []struct {
	class string
	write func(w *writer, class string, oids []int64) error
}{
	{"pg_attrdef", (*writer).parts},
	{"pg_rewrite", (*writer).parts},
	{"pg_amop", (*writer).parts},
	{"pg_amproc", (*writer).parts},
	{"pg_constraint", (*writer).constraints},
	{"pg_class", (*writer).relations},
	{"pg_type", (*writer).types},
	{"pg_proc", (*writer).routines},
	{"pg_operator", (*writer).operators},
	{"pg_opclass", (*writer).operatorClasses},
	{"pg_opfamily", (*writer).operatorFamilies},
	{"pg_cast", (*writer).casts},
	{"pg_collation", (*writer).collations},
	{"pg_ts_dict", (*writer).dictionaries},
	{"pg_ts_config", (*writer).configurations},
	{"pg_foreign_server", (*writer).servers},
	{"pg_foreign_data_wrapper", (*writer).wrappers},
	{"pg_extension", (*writer).extensions},
	{"pg_namespace", (*writer).schemas},
}

// write writes all objects of the graph.
func (w *writer) write() error {
	byClass := map[string][]int64{}
	for _, o := range w.graph.sorted() {
		byClass[o.class] = append(byClass[o.class], o.oid)
	}
	for _, c := range catalogs {
		if oids := byClass[c.class]; oids != nil {
			if err := c.write(w, c.class, oids); err != nil {
				return err
			}
		}
		delete(byClass, c.class)
	}
	if rest := slices.Sorted(maps.Keys(byClass)); len(rest) > 0 {
		return w.unsupported(object{rest[0], byClass[rest[0]][0]}, "Sluice does not write such objects")
	}
	return w.complete()
}

// complete reports objects that nothing wrote: they were dropped meanwhile.
func (w *writer) complete() error {
	for _, o := range w.graph.sorted() {
		if _, written := w.items[o]; !written {
			return fmt.Errorf("%s %d is gone; something changes the schema at this moment", o.class, o.oid)
		}
	}
	return nil
}

// parts is for objects that others write.
func (w *writer) parts(class string, oids []int64) error {
	for _, oid := range oids {
		w.put(class, oid, item{})
	}
	return nil
}

func (w *writer) put(class string, oid int64, i item) { w.items[object{class, oid}] = i }

// sortKey orders names by bytes, so that the order is the same everywhere.
func sortKey(parts ...string) string { return strings.Join(parts, "\x00") }

// unsupported names an object and the table, view or other object because of which it would be written.
func (w *writer) unsupported(o object, why string) error {
	what, err := w.describe(o)
	if err != nil {
		return err
	}
	by := ""
	if cause := w.cause(o); cause != o {
		if by, err = w.describe(cause); err != nil {
			return err
		}
		by = ", which " + by + " needs"
	}
	return Unsupported{
		fmt.Sprintf("cannot write %s%s: %s", what, by, why),
		"write the DDL by hand, or with pg_dump -s, or leave the table out",
	}
}

// cause returns the table or view next to an object that needs it, or else what is furthest.
func (w *writer) cause(o object) object {
	seen := map[object]bool{o: true}
	front := []object{o}
	for i := 0; i < len(front); i++ {
		if front[i] != o && w.graph[front[i]].read {
			return front[i]
		}
		for _, other := range w.graph.sorted() {
			if w.graph[other].needs[front[i]] && !seen[other] {
				seen[other] = true
				front = append(front, other)
			}
		}
	}
	return front[len(front)-1]
}

func (w *writer) describe(o object) (string, error) {
	var what string
	err := w.tx.QueryRow(w.ctx, query("describe"), o.class, o.oid).Scan(&what)
	return what, err
}

// lines puts items into parentheses, one per line.
func lines(items []string) string {
	if len(items) == 0 {
		return "()"
	}
	return "(\n    " + strings.Join(items, ",\n    ") + "\n)"
}

// options spells options of foreign objects, which the server keeps as name=value.
func options(all []string) string {
	spelled := make([]string, len(all))
	for i, option := range all {
		key, value, _ := strings.Cut(option, "=")
		spelled[i] = sqltext.Ident(key) + " " + literal(value)
	}
	slices.Sort(spelled)
	return strings.Join(spelled, ", ")
}

// literal is a string constant without the space that keeps E” apart from what stands before it.
func literal(value string) string { return strings.TrimSpace(sqltext.Literal(value)) }

// definition cleans up what the server says of an object.
func definition(text string) string {
	return sqltext.Tidy(strings.TrimSuffix(strings.TrimSpace(text), ";"))
}
