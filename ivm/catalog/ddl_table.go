package catalog

import (
	"cmp"
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

func (s *script) createTable(d *ddl.CreateTable) {
	key, ok := s.relationKey(d.Name, d.Temporary)
	if !ok {
		return
	}
	if taken := s.relations[key]; taken != nil {
		if !d.IfNotExists {
			s.reportTaken(d.At(), taken)
		}
		return
	}
	r := &Relation{Schema: key.schema, Name: key.name, Kind: tableKind(d), At: s.pos(d.At()), Unlogged: d.Unlogged}
	for _, parent := range d.Parents {
		if p := s.named(parent); p != nil {
			s.inherit(r, p, d.Partition)
		} else {
			s.unreadable[key] = true
		}
	}
	s.typedColumns(r, d)
	s.ownColumns(r, d)
	for _, parent := range r.Parents {
		cloneKeys(parent, r)
	}
	for _, k := range d.Keys {
		s.addKey(r, k, true)
	}
	for _, n := range d.NotNull {
		s.setNotNull(r, n.Column, n.Name)
	}
	s.relations[key] = r
}

func tableKind(d *ddl.CreateTable) Kind {
	switch {
	case d.Foreign:
		return Foreign
	case d.Partitioned:
		return Partitioned
	}
	return Table
}

// inherit gives a new table the columns of a parent.
func (s *script) inherit(r, parent *Relation, partition bool) {
	link(r, parent, partition)
	for _, column := range parent.Columns {
		if at := r.Column(column.Name); at >= 0 {
			r.Columns[at].NotNull = r.Columns[at].NotNull || column.NotNull
			continue
		}
		column.inherited = true
		r.Columns = append(r.Columns, column)
	}
}

// link makes a table a child of another one.
func link(r, parent *Relation, partition bool) {
	r.Parents = append(r.Parents, parent)
	r.Partition = partition
	parent.Children = append(parent.Children, r)
}

// cloneKeys gives a partition the keys of its parent, but those that it has.
func cloneKeys(parent, r *Relation) {
	if !r.Partition {
		return
	}
	for _, k := range parent.keys {
		same := func(own key) bool {
			return own.primary == k.primary && own.plain == k.plain && slices.Equal(own.columns, k.columns)
		}
		if !r.hasKey(same) {
			r.addKey(key{columns: slices.Clone(k.columns), primary: k.primary, deferrable: k.deferrable, plain: k.plain, parent: cmp.Or(k.parent, k.name)})
		}
	}
}

// typedColumns gives a table OF a composite type its columns.
func (s *script) typedColumns(r *Relation, d *ddl.CreateTable) {
	if d.Of.IsZero() {
		return
	}
	t := lookup(s.types, s.path, d.Of.Schema, d.Of.Name)
	if t == nil || t.Kind != ddl.CompositeType {
		s.report(d.Of.Pos, unknownRowType, d.Of.Name)
		s.unreadable[name{r.Schema, r.Name}] = true
		return
	}
	for _, c := range t.Columns {
		c.inherited = true
		r.Columns = append(r.Columns, c)
	}
}

// ownColumns adds the columns that the statement lists, and those of LIKE at their places.
func (s *script) ownColumns(r *Relation, d *ddl.CreateTable) {
	likes := d.Likes
	for i, c := range d.Columns {
		for ; len(likes) > 0 && likes[0].Before == i; likes = likes[1:] {
			s.like(r, likes[0])
		}
		s.ownColumn(r, c)
	}
	for _, l := range likes {
		s.like(r, l)
	}
}

// ownColumn adds a column, or merges it with the inherited one of its name.
func (s *script) ownColumn(r *Relation, c ddl.TableColumn) {
	column := s.column(c)
	at := r.Column(c.Name)
	switch {
	case at < 0 && c.Type.IsZero():
		s.reportColumn(r, ddl.ColumnName{Pos: c.Pos, Name: c.Name})
	case at < 0:
		r.Columns = append(r.Columns, column)
	case !r.Columns[at].inherited:
		s.report(c.Pos, repeatedColumn, c.Name)
	default:
		merge(&r.Columns[at], column)
	}
}

// merge adds to an inherited column what a table says of it itself.
func merge(inherited *Column, own Column) {
	inherited.inherited = own.typ.IsZero()
	inherited.NotNull = inherited.NotNull || own.NotNull
	inherited.notNullAs = own.notNullAs
	inherited.Identity = inherited.Identity || own.Identity
	inherited.Generated = inherited.Generated || own.Generated
	inherited.Virtual = inherited.Virtual || own.Virtual
	if own.Collation != "" {
		inherited.Collation = own.Collation
	}
}

// column is a column as the catalog keeps it.
func (s *script) column(c ddl.TableColumn) Column {
	column := Column{
		Name: c.Name, NotNull: c.NotNull, Identity: c.Identity, Generated: c.Generated, Virtual: c.Virtual,
		At: s.pos(c.Pos), notNullAs: c.NotNullAs,
	}
	if !c.Type.IsZero() {
		s.setType(&column, c.Type, c.Collation)
	}
	return column
}

func (s *script) setType(column *Column, typ sqltext.Type, collation ddl.ObjectName) {
	s.checkType(typ)
	column.typ = s.resolve(typ)
	column.Type = column.typ.SQL()
	column.Collation = s.collationName(collation)
	if domain := s.types[name{column.typ.Schema, column.typ.Name}]; domain != nil && column.Collation == "" {
		column.Collation = domain.Collation
	}
	column.Varied, column.Equality = s.varied(*column), s.equality(*column)
}

func (s *script) varied(column Column) bool {
	varied := !sqltext.IsExact(column.Type)
	if made := s.types[name{column.typ.Schema, column.typ.Name}]; made != nil {
		varied = made.Varied
	}
	return varied || !s.Deterministic(column.Collation)
}

// like adds the columns of another table.
func (s *script) like(r *Relation, l ddl.Like) {
	source := s.named(l.Source)
	if source == nil {
		s.unreadable[name{r.Schema, r.Name}] = true
		return
	}
	for _, c := range source.Columns {
		c.inherited = false
		c.Identity = c.Identity && l.Identity
		c.Generated = c.Generated && l.Generated
		c.Virtual = c.Virtual && l.Generated
		if r.Column(c.Name) >= 0 {
			s.report(l.Source.Pos, repeatedColumn, c.Name)
			continue
		}
		r.Columns = append(r.Columns, c)
	}
	if l.Keys {
		for _, k := range source.keys {
			r.addKey(key{columns: slices.Clone(k.columns), primary: k.primary, deferrable: k.deferrable, plain: k.plain})
		}
	}
}
