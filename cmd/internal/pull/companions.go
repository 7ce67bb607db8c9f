package pull

import (
	"slices"

	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// companion is a cast or an operator that may go with types.
type companion struct {
	Class               string
	OID                 int64
	LeftType, RightType int64
	Function            int64 // of a cast
	Extension           int64 // that it is a member of
}

// companions adds the casts between types of the graph, and the operators on them that queries name. PostgreSQL does not record that a view
// needs a cast. It returns what is new.
func (db *database) companions(g graph, operators [2][]string) ([]object, error) {
	all, err := rows[companion](db, "companions", operators[0], operators[1])
	var front []object
	for _, c := range all {
		o := object{c.Class, c.OID}
		if !g.wants(c) {
			continue
		}
		if c.Extension != 0 {
			o = object{"pg_extension", c.Extension}
		}
		front = g.reach(front, o, false)
	}
	return front, err
}

// wants reports whether both types of a companion are there. Between types of the server's own, a cast is wanted for its function only, and
// an extension's not at all.
func (g graph) wants(c companion) bool {
	ours := g.has("pg_type", c.LeftType) || g.has("pg_type", c.RightType)
	there := (c.LeftType < firstUser || g.has("pg_type", c.LeftType)) && (c.RightType < firstUser || g.has("pg_type", c.RightType))
	if c.Class == "pg_operator" {
		return there
	}
	return there && c.Extension == 0 && (ours || g.has("pg_proc", c.Function))
}

func (g graph) has(class string, oid int64) bool { return g[object{class, oid}] != nil }

// uses finds what queries name besides tables; operators, of which too many share a name, are returned by schema and name.
func (db *database) uses(reads plan.Reads) (found []object, operators [2][]string, err error) {
	var kinds, schemas, names []string
	for _, use := range reads.Uses {
		path := reads.Path
		if use.Schema != "" {
			path = []string{use.Schema}
		}
		for _, schema := range path {
			if use.Kind == sqltext.UsesOperator {
				operators[0], operators[1] = append(operators[0], schema), append(operators[1], use.Name)
				continue
			}
			kinds, schemas, names = append(kinds, string(use.Kind)), append(schemas, schema), append(names, use.Name)
		}
	}
	all, err := rows[struct {
		Class string
		OID   int64
	}](db, "uses", kinds, schemas, names)
	for _, o := range all {
		found = append(found, object{o.Class, o.OID})
	}
	return slices.Compact(found), operators, err
}
