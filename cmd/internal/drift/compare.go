package drift

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// errUndo ends what is rolled back on purpose.
var errUndo = errors.New("rolled back on purpose")

// Compare finds where the database differs from what a version installs. Members says that objects are members of an extension. It changes
// nothing: what it makes to compare with is rolled back.
func Compare(ctx context.Context, tx pgx.Tx, m upgrade.Manifest, members bool) ([]Difference, error) {
	var found []Difference
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		c := &comparison{ctx: ctx, tx: tx, m: m, members: members}
		if err := c.run(); err != nil {
			return err
		}
		found = c.found
		return errUndo
	})
	if errors.Is(err, errUndo) {
		err = nil
	}
	return found, err
}

type comparison struct {
	ctx     context.Context
	tx      pgx.Tx
	m       upgrade.Manifest
	members bool

	shadows    *shadows
	below      []member        // partitions of what others follow, and what inherits from it
	eachRow    map[string]bool // triggers
	above      map[string]bool // triggers that tables above bear, too
	order      map[string]int  // of objects, by id
	aside      map[string]bool // views of stream tables that show old rows until the new ones are filled
	want, have map[key]fact
	wanted     []fact // in the order in which they can be made
	found      []Difference
	others     map[string]bool // what others made under names of the extension
	owner      string          // of what is installed, as SQL
}

func (c *comparison) run() error {
	// Names are printed with their schemas; no session waits long for a lock that another one holds, nor do those that queue behind it.
	_, err := c.tx.Exec(c.ctx, "set local search_path = pg_catalog, pg_temp; set local check_function_bodies = off; set local client_min_messages = warning; set local quote_all_identifiers = off; set local lock_timeout = '5s'")
	if err != nil {
		return err
	}
	if _, err := c.tx.Exec(c.ctx, c.m.KeepSettings()); err != nil {
		return err
	}
	enabled, err := c.enabled()
	if err != nil {
		return err
	}
	c.shadows = newShadows(c.m, c.tx.Conn().PgConn().PID(), enabled)
	c.order = map[string]int{}
	for n, o := range c.m.Objects {
		c.order[o.ID()] = n
	}
	if err := c.missingRoles(); err != nil {
		return err
	}
	if err := c.findBelow(); err != nil {
		return err
	}
	if err := c.findAside(); err != nil {
		return err
	}
	real, err := readFacts(c.ctx, c.tx, c.subjects(false))
	if err != nil {
		return err
	}
	c.have = byKey(real)
	c.owner = c.ownerOfMost(real)
	if err := c.shadows.make(c.ctx, c.tx); err != nil {
		return err
	}
	shadow, err := readFacts(c.ctx, c.tx, c.subjects(true))
	if err != nil {
		return err
	}
	c.expect(shadow)
	if err := c.compareFacts(); err != nil {
		return err
	}
	if err := c.compareRows(); err != nil {
		return err
	}
	return c.compareMade()
}

// enabled lists the outboxes of stream tables that somebody enabled.
func (c *comparison) enabled() ([]string, error) {
	table := sqltext.Qualified(c.m.Internal, "pgt_outbox_state")
	var there bool
	if err := c.tx.QueryRow(c.ctx, "select to_regclass($1) is not null", table).Scan(&there); err != nil || !there {
		return nil, err
	}
	rows, err := c.tx.Query(c.ctx, "select outbox_name from "+table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// findAside finds stream tables that are being recreated beside their old rows.
func (c *comparison) findAside() error {
	c.aside = map[string]bool{}
	for _, m := range c.m.Made {
		if m.Kind != "stream table" {
			continue
		}
		var view, old string
		for _, r := range m.Relations {
			switch r.Kind {
			case "view":
				view = "view " + sqltext.Qualified(r.Schema, r.Name)
			case "table":
				old = sqltext.Qualified(r.Schema, r.Name) // the last of its tables
			}
		}
		var there bool
		if err := c.tx.QueryRow(c.ctx, "select to_regclass($1) is not null", old).Scan(&there); err != nil {
			return err
		}
		c.aside[view] = there
	}
	return nil
}

// subjects are what is compared: the real ones, or their shadows.
func (c *comparison) subjects(shadow bool) subjects {
	var s subjects
	name := func(r sqltext.Relation) string {
		if shadow {
			r.Schema = c.shadows.in[r.Schema]
		}
		return r.String()
	}
	for _, of := range []map[sqltext.Relation]string{c.shadows.own, c.shadows.made} {
		for r := range of {
			s.relations = append(s.relations, name(r))
		}
	}
	for _, b := range c.below {
		if !shadow {
			s.relations = append(s.relations, b.Name)
		}
	}
	slices.Sort(s.relations)
	s.relations = slices.Compact(s.relations)
	for _, o := range c.m.Objects {
		if o.Kind == "function" || o.Kind == "procedure" {
			signature := o.Signature
			if shadow {
				signature = c.shadows.calls[signature]
			}
			s.functions = append(s.functions, signature)
		}
	}
	for _, schema := range slices.Sorted(maps.Keys(c.shadows.in)) {
		if shadow {
			schema = c.shadows.in[schema]
		}
		s.schemas = append(s.schemas, schema)
	}
	s.roles = c.roles()
	return s
}

// roles are the group roles of the spec.
func (c *comparison) roles() []string {
	roles := []string{}
	for _, o := range c.m.Objects {
		if o.Kind == "role" {
			roles = append(roles, sqltext.Unquoted(o.Signature))
		}
	}
	return roles
}

// expect turns what the server says of shadows into what it should say of the objects.
func (c *comparison) expect(shadow []fact) {
	var pairs []string
	for _, schema := range slices.Sorted(maps.Keys(c.shadows.in)) {
		pairs = append(pairs, c.shadows.in[schema], sqltext.Ident(schema))
	}
	names := strings.NewReplacer(pairs...)
	open := c.openRights()
	c.eachRow, c.above = map[string]bool{}, map[string]bool{}
	for _, f := range shadow {
		f = c.owned(f.at(names))
		if f.Aspect == "definition" && strings.Contains(f.Value, " FOR EACH ROW ") {
			c.eachRow[f.Object] = true
		}
		if f.Aspect == "definition" && strings.HasSuffix(f.Value, "('above')") {
			c.above[f.Object] = true
		}
		_, regular := c.order[f.Object]
		switch {
		case f.Aspect == "comment" && regular: // the manifest has it
		case f.Aspect == "rights of public" && !open[f.Object]: // the server's default, which the owner may have changed
		case c.isSource(f.Object):
		default:
			c.wanted = append(append(c.wanted, f), c.belowOf(f)...)
		}
	}
	for _, o := range c.m.Objects {
		c.expectOf(o)
	}
	slices.SortStableFunc(c.wanted, func(a, b fact) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(c.place(a.Object), c.place(b.Object)))
	})
	c.want = byKey(c.wanted)
}

// ownerOfMost is the role that owns the extension: that most of its objects belong to.
func (c *comparison) ownerOfMost(real []fact) (owner string) {
	count := map[string]int{}
	for _, f := range real {
		if f.Aspect == "owner" && !c.isSource(f.Object) {
			count[f.Value]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if owner == "" || count[name] > count[owner] {
			owner = name
		}
	}
	return owner
}

// owned has a shadow belong to the extension's owner: the role that compares may be another member of it.
func (c *comparison) owned(f fact) fact {
	if f.Aspect == "owner" && c.owner != "" {
		f.Does = strings.TrimSuffix(f.Does, f.Value) + c.owner
		f.Value = c.owner
	}
	return f
}

// place is where an object comes in the order of creation; what functions make comes last.
func (c *comparison) place(object string) int {
	if n, ok := c.order[object]; ok {
		return n
	}
	return len(c.order)
}

// expectOf adds what the manifest says of an object and its shadow does not.
func (c *comparison) expectOf(o upgrade.Object) {
	if sql := o.CommentSQL(); sql != "" {
		c.wanted = append(c.wanted, fact{Rank: 12, Object: o.ID(), Aspect: "comment", Value: o.Comment, Does: sql})
	}
	if !c.members {
		return
	}
	switch o.Kind {
	case "table", "view", "sequence", "function", "procedure":
		extension := sqltext.Ident(c.m.Extension)
		c.wanted = append(c.wanted, fact{Rank: 10, Object: o.ID(), Aspect: "member of extension", Value: extension,
			Does: fmt.Sprintf("alter extension %s add %s", extension, o.ID())})
		if o.Dump {
			c.wanted = append(c.wanted, fact{Rank: 10, Object: o.ID(), Aspect: "kept by dumps", Value: "yes"})
		}
	}
}

// openRights are the objects of which the scripts say what everybody may do with them.
func (c *comparison) openRights() map[string]bool {
	open := map[string]bool{}
	for _, o := range c.m.Objects {
		if o.Kind == "grant" && (strings.HasPrefix(o.Signature, "nobody: ") || strings.HasPrefix(o.Signature, "public: ")) {
			for _, need := range o.Needs {
				open[need] = !strings.HasPrefix(need, "schema ")
			}
		}
	}
	return open
}

// isSource reports whether an object is a table of others: only triggers on it are ours.
func (c *comparison) isSource(object string) bool {
	return slices.ContainsFunc(c.shadows.sources, func(r sqltext.Relation) bool { return object == "table "+r.String() })
}
