package drift

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// errUndo ends what is rolled back on purpose.
var errUndo = errors.New("rolled back on purpose")

// Compare finds where the database differs from what a version installs. Members says that objects are members of an extension. It changes
// nothing: what it makes to compare with is rolled back.
func Compare(ctx context.Context, tx pgx.Tx, m upgrade.Manifest, members bool) ([]Difference, error) {
	before, err := versions(ctx, tx, m)
	for err == nil {
		var found []Difference
		var after string
		if found, err = compareOnce(ctx, tx, m, members); err == nil {
			after, err = versions(ctx, tx, m)
		}
		// Another session that fills a stream table may have dropped one view and made the next one meanwhile, so that some queries saw the one and some
		// the other.
		if err == nil && after == before {
			return found, nil
		}
		before = after
	}
	return nil, err
}

func compareOnce(ctx context.Context, tx pgx.Tx, m upgrade.Manifest, members bool) ([]Difference, error) {
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

// versions is another text once something was created, altered or dropped that functions make.
func versions(ctx context.Context, tx pgx.Tx, m upgrade.Manifest) (text string, err error) {
	var names []string
	for _, made := range m.Made {
		for _, r := range made.Relations {
			names = append(names, sqltext.Qualified(r.Schema, r.Name))
		}
	}
	err = tx.QueryRow(ctx, `
select coalesce(string_agg(format('%s %s', c.oid, c.xmin), ', ' order by r.name), '')
from unnest($1::text[]) r (name)
left join pg_class c on c.oid = to_regclass(r.name)`, names).Scan(&text)
	return text, err
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

// keepSettings does what pgt_keep_settings does, which may be missing.
const keepSettings = `
	select set_config(split_part(s.setting, '=', 1), substr(s.setting, strpos(s.setting, '=') + 1), true)
	from (
		select distinct on (split_part(c, '=', 1)) c
		from pg_proc p
		cross join unnest(p.proconfig) c
		where p.pronamespace = $1::regnamespace and c ~ '^(TimeZone|DateStyle|IntervalStyle)='
		order by split_part(c, '=', 1), p.oid
	) s (setting)`

func (c *comparison) run() error {
	// Names are printed with their schemas; no session waits long for a lock that another one holds, nor do those that queue behind it.
	_, err := c.tx.Exec(c.ctx, "set local search_path = pg_catalog, pg_temp; set local check_function_bodies = off; set local client_min_messages = warning; set local quote_all_identifiers = off; set local lock_timeout = '5s'")
	if err != nil {
		return err
	}
	if c.m.KeepsSettings() {
		if _, err := c.tx.Exec(c.ctx, keepSettings, sqltext.Ident(c.m.Internal)); err != nil {
			return err
		}
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
