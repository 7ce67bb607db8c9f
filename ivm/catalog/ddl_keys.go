package catalog

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

func (s *script) alterAddKey(r *Relation, d *ddl.AddKey) {
	if d.IfNotExists && r.hasKey(func(k key) bool { return k.name == d.Key.Name }) {
		return
	}
	s.addKey(r, d.Key, d.Only)
}

// addKey adds a key to a table and, unless it is ONLY the table's, to its partitions.
func (s *script) addKey(r *Relation, k ddl.TableKey, only bool) {
	if k.Index != "" {
		s.addIndexAsKey(r, k)
		return
	}
	columns, ok := s.keyColumns(r, k)
	if !ok || k.Primary && s.secondPrimaryKey(r, k) {
		return
	}
	added := key{name: k.Name, columns: columns, primary: k.Primary, deferrable: k.Deferrable, plain: k.Plain}
	if added.name == "" {
		added.name = r.keyName(k, columns)
	}
	r.addKey(added)
	for _, below := range r.withInherited(only)[1:] {
		below.keyFromAbove(added)
	}
}

// keyFromAbove takes over a key of a table above: as a whole if this is a partition, and else, as far as it is inherited, NOT NULL.
func (r *Relation) keyFromAbove(k key) {
	if r.Partition {
		for _, parent := range r.Parents {
			cloneKeys(parent, r)
		}
		return
	}
	for i := range r.Columns {
		if k.primary && slices.Contains(k.columns, r.Columns[i].Name) {
			r.Columns[i].NotNull = true
		}
	}
}

// keyColumns are the columns of a key; it is false if one is unknown.
func (s *script) keyColumns(r *Relation, k ddl.TableKey) (columns []string, ok bool) {
	ok = true
	for _, column := range k.Columns {
		if r.Column(column.Name) < 0 {
			ok = false
			if !s.doubtful(ddl.ObjectName{Schema: r.Schema, Name: r.Name}) && !r.isView() {
				s.reportUnknown(column.Pos, unknownKeyColumn, r.ColumnNames(), column.Name)
			}
		}
		if at := r.Column(column.Name); at >= 0 && !k.Hash && s.Unsorted(r.Columns[at].Type) {
			s.report(column.Pos, unsortedKey, r.Columns[at].Type)
		}
		columns = append(columns, column.Name)
	}
	return columns, ok
}

func (r *Relation) isView() bool { return r.Kind == View || r.Kind == MaterializedView }

func (s *script) secondPrimaryKey(r *Relation, k ddl.TableKey) bool {
	if !r.hasKey(func(own key) bool { return own.primary }) {
		return false
	}
	s.report(k.Pos, secondPrimaryKey, r.Name)
	return true
}

// addIndexAsKey makes a unique index a constraint.
func (s *script) addIndexAsKey(r *Relation, k ddl.TableKey) {
	at := slices.IndexFunc(r.keys, func(own key) bool { return own.name == k.Index && !own.plain })
	if at < 0 {
		if !s.doubtful(ddl.ObjectName{Schema: r.Schema, Name: r.Name}) {
			s.report(k.Pos, unknownIndex, k.Index)
		}
		return
	}
	if k.Primary && s.secondPrimaryKey(r, k) {
		return
	}
	made := r.keys[at]
	made.primary, made.deferrable = k.Primary, k.Deferrable
	if k.Name != "" {
		made.name = k.Name
	}
	r.keys = slices.Delete(r.keys, at, at+1)
	r.addKey(made)
}

// dropKey drops a key or a NOT NULL constraint by its name. Scripts that begin by dropping everything may do so before the table exists.
func (s *script) dropKey(d *ddl.DropKey) {
	r := s.RelationIn(s.path, d.Table.Schema, d.Table.Name)
	if r == nil {
		return
	}
	for _, table := range r.withInherited(d.Only) {
		table.dropKeys(func(k key) bool { return table == r && k.name == d.Name || table != r && k.parent == d.Name })
		for i := range table.Columns {
			column := &table.Columns[i]
			if d.Name == column.notNullAs || d.Name == r.Name+"_"+column.Name+"_not_null" {
				column.NotNull = false
			}
		}
	}
}

// renameKey renames a constraint or an index, if the table has it.
func renameKey(r *Relation, from, to string) {
	for i := range r.keys {
		if r.keys[i].name == from {
			r.keys[i].name = to
		}
	}
	for i := range r.Columns {
		if column := &r.Columns[i]; column.notNullAs == from {
			column.notNullAs = to
		}
	}
}
