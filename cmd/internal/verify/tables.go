package verify

import (
	"context"
	_ "embed"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"
)

//go:embed sql/tables.sql
var tablesSQL string

// table is a table of users that is written at random.
type table struct {
	oid     int64
	name    string // as SQL
	columns []*tableColumn
	refers  []reference
	checks  []string // as the server prints them
}

// tableColumn is a column that can be written.
type tableColumn struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`     // with its modifiers
	Base       string   `json:"base"`     // below its domain
	Category   string   `json:"category"` // as in pg_type
	NotNull    bool     `json:"not_null"`
	HasDefault bool     `json:"has_default"`
	Labels     []string `json:"labels"` // of an enum
	Unique     bool     `json:"unique"` // is in a unique index

	values []string // texts that its type takes; empty if none is known
}

// reference is a foreign key.
type reference struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	Refers  []string `json:"refers"`
}

// readTables reads all tables of the database, those first that others refer to.
func readTables(ctx context.Context, conn *pgx.Conn) ([]*table, error) {
	rows, err := conn.Query(ctx, tablesSQL)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*table, error) {
		t := &table{}
		return t, row.Scan(&t.oid, &t.name, &t.columns, &t.refers, &t.checks)
	})
	if err != nil {
		return nil, err
	}
	known := map[[2]string]bool{}
	for _, t := range tables {
		for _, c := range t.columns {
			if err := c.chooseValues(ctx, conn, t.constants(), known); err != nil {
				return nil, err
			}
		}
	}
	return parentsFirst(tables), nil
}

// parentsFirst orders tables so that what is referred to can be filled before; circles stay as they are.
func parentsFirst(tables []*table) []*table {
	var order []*table
	seen := map[string]bool{}
	var add func(*table)
	add = func(t *table) {
		if seen[t.name] {
			return
		}
		seen[t.name] = true
		for _, r := range t.refers {
			if n := slices.IndexFunc(tables, func(p *table) bool { return p.name == r.Table }); n >= 0 {
				add(tables[n])
			}
		}
		order = append(order, t)
	}
	for _, t := range tables {
		add(t)
	}
	return order
}

var constant = regexp.MustCompile(`'((?:[^']|'')*)'|\b\d+(?:\.\d+)?\b`)

// constants are what the checks and partitions of a table name: values that they are likely to accept.
func (t *table) constants() []string {
	var all []string
	for _, check := range t.checks {
		for _, found := range constant.FindAllStringSubmatch(check, -1) {
			if found[1] != "" {
				all = append(all, found[1])
			} else if found[0] != "''" {
				all = append(all, found[0])
			}
		}
	}
	return all
}

// pool are texts for any type: few, so that there are duplicates, matches and groups.
var pool = []string{
	"0", "1", "2", "3", "5", "8", "-1", "2.5", "0.125", "99.99", "a", "b", "ab", "A", "ü", "", "true", "false",
	"2024-01-01", "2024-02-29", "2024-03-31", "2024-02-29 23:59:59.5", "2024-07-15 06:00:00+02", "12:30:00", "23:59:59", "1 day", "1 mon", "02:00:00",
	`{"k": "a", "n": 1}`, `{"k": "b"}`, "[1, 2]", "{}", "{1,2}", "{a,b}", "[1,3)", "[2024-01-01,2024-02-01)", "[1.5,2.5)",
	"00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-00000000000a", `\x00ff`, "101", "192.168.0.1", "10.0.0.0/8", "08:00:2b:01:02:03", "(1,2)", "(3,4)", "<a/>", "a b",
}

// chooseValues finds out which texts the type of a column takes; known keeps that by types.
func (c *tableColumn) chooseValues(ctx context.Context, conn *pgx.Conn, constants []string, known map[[2]string]bool) error {
	candidates := slices.Concat(c.Labels, constants)
	switch c.Base {
	case "text", "character varying", "character", "name", "citext":
		if len(constants) == 0 {
			candidates = []string{"a", "b", "ab", "A", "ü", "a b", "1"}
		}
	case "real", "double precision": // sums of these do not hang on their order
		candidates = append(candidates, "0", "1", "2.5", "-1", "0.125", "8")
	default:
		candidates = append(candidates, pool...)
	}
	for _, text := range candidates {
		takes, asked := known[[2]string{c.Type, text}]
		if !asked {
			err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, "select "+typed(text, c.Type))
				return err
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			takes = err == nil
			known[[2]string{c.Type, text}] = takes
		}
		if takes && !slices.Contains(c.values, text) {
			c.values = append(c.values, text)
		}
	}
	return nil
}
