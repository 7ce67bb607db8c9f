package catalog

import (
	"maps"
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// rename gives an object another name or schema. Objects that nobody made are left alone, as they may be none that the catalog keeps.
func (s *script) rename(d *ddl.Rename) {
	switch d.Kind {
	case ddl.RelationObject:
		s.renameRelation(d)
	case ddl.IndexObject:
		for _, r := range s.relations {
			if s.indexOf(d.Object.ObjectName, r) {
				renameKey(r, d.Object.Name, d.To.Name)
			}
		}
	case ddl.TypeObject:
		s.renameType(d)
	case ddl.RoutineObject:
		s.renameRoutine(d)
	}
}

// renamed is the name that an object gets.
func renamed(old name, to ddl.ObjectName) name {
	if to.Name != "" {
		old.name = to.Name
	}
	if to.Schema != "" {
		old.schema = to.Schema
	}
	return old
}

func (s *script) renameRelation(d *ddl.Rename) {
	r := s.RelationIn(s.path, d.Object.Schema, d.Object.Name)
	if r == nil {
		return
	}
	old := name{r.Schema, r.Name}
	key := renamed(old, d.To)
	if taken := s.relations[key]; taken != nil {
		s.reportTaken(d.At(), taken)
		return
	}
	delete(s.relations, old)
	s.relations[key] = r
	r.Schema, r.Name = key.schema, key.name
}

// indexOf reports whether an index of this name would be one of the relation.
func (s *script) indexOf(n ddl.ObjectName, r *Relation) bool {
	return n.Schema == r.Schema || n.Schema == "" && slices.Contains(searched(s.path), r.Schema)
}

func (s *script) drop(d *ddl.Drop) {
	switch d.Kind {
	case ddl.RelationObject:
		if r := s.RelationIn(s.path, d.Object.Schema, d.Object.Name); r != nil {
			s.dropRelation(r)
		}
	case ddl.IndexObject:
		for _, r := range s.relations {
			if s.indexOf(d.Object.ObjectName, r) {
				r.dropKeys(func(k key) bool { return k.name == d.Object.Name })
			}
		}
	case ddl.TypeObject:
		if t := lookup(s.types, s.path, d.Object.Schema, d.Object.Name); t != nil {
			delete(s.types, name{t.Schema, t.Name})
		}
	case ddl.RoutineObject:
		s.dropRoutine(d.Object)
	case ddl.OperatorObject:
		s.dropOperator(d.Object)
	case ddl.SchemaObject:
		s.dropSchema(d.Object.Name)
	}
}

// dropRelation drops a relation and what is below it: partitions go with it, and without CASCADE PostgreSQL refuses for others.
func (s *script) dropRelation(r *Relation) {
	for _, parent := range slices.Clone(r.Parents) {
		unlink(r, parent)
	}
	for _, table := range r.withInherited(false) {
		delete(s.relations, name{table.Schema, table.Name})
	}
}

func (s *script) dropSchema(schema string) {
	for _, r := range s.relations {
		if r.Schema == schema {
			s.dropRelation(r)
		}
	}
	maps.DeleteFunc(s.types, func(n name, _ *Type) bool { return n.schema == schema })
	maps.DeleteFunc(s.functions, func(n name, _ []Function) bool { return n.schema == schema })
	maps.DeleteFunc(s.operators, func(n name, _ []Operator) bool { return n.schema == schema })
	maps.DeleteFunc(s.collations, func(n name, _ bool) bool { return n.schema == schema })
}
