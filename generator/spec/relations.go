package spec

import "slices"

// Which relations the objects of a spec make. Derived names follow DerivedName.

// DerivedSchema is where the relations live that are made from an inbox's name: beside a managed inbox's table, and in the
// extension's schema for a table of the user's.
func (i *Inbox) DerivedSchema(extension Extension) string {
	if i.Managed() {
		return i.Schema
	}
	return extension.Schema
}

// DerivedRelations are the relations that are made from an inbox's name, without its table.
func (i *Inbox) DerivedRelations(extension Extension) []Name {
	full := []string{i.Name + "_pending"}
	if i.DeadLetter {
		full = append(full, i.Name+"_dlq")
	}
	if i.Stats {
		full = append(full, i.Name+"_stats")
	}
	if i.Ordering != nil {
		full = append(full, "next_"+i.Name, "gaps_"+i.Name)
	}
	if i.Priority != nil {
		for _, tier := range i.Priority.Tiers {
			full = append(full, "pending_"+i.Name+"_"+tier.Name)
		}
	}
	return derivedIn(i.DerivedSchema(extension), full)
}

// Makes returns every relation that the spec makes.
func (s *Spec) Makes() []Name {
	c := checker{Spec: s}
	var made []Name
	for _, object := range slices.Concat(c.namedTables(), c.namedOutboxes(), c.namedInboxes()) {
		for _, claim := range object.claims {
			if !claim.adopted {
				made = append(made, claim.relation)
			}
		}
	}
	return made
}

func derivedIn(schema string, full []string) []Name {
	names := make([]Name, len(full))
	for i, name := range full {
		names[i] = Name{schema, DerivedName(name)}
	}
	return names
}

func (c checker) namedInboxes() []named {
	var objects []named
	for n := range c.Inboxes {
		i := &c.Inboxes[n]
		claims := []claim{{relation: i.Relation, adopted: !i.Managed()}}
		derived := i.DerivedRelations(c.Extension)
		for n, relation := range derived {
			if !slices.Contains(derived[:n], relation) { // tiers of one name are reported elsewhere
				claims = append(claims, claim{relation: relation})
			}
		}
		if i.ChangeFeed {
			claims = append(claims, c.eventOutbox(i.Name))
		}
		objects = append(objects, named{i.Place, i.Name, i.RenamedFrom, claims})
	}
	return objects
}

func (c checker) namedOutboxes() []named {
	var objects []named
	for _, o := range c.Outboxes {
		objects = append(objects, named{o.Place, o.Name, o.RenamedFrom, []claim{c.eventOutbox(o.Name)}})
	}
	return objects
}

// eventOutbox is the table of an event outbox.
func (c checker) eventOutbox(name string) claim {
	return claim{relation: Name{c.Extension.Schema, DerivedName("outbox_" + name)}}
}

// namedGroups have no relations of their own.
func (c checker) namedGroups() []named {
	var objects []named
	for _, g := range c.ConsumerGroups {
		objects = append(objects, named{g.Place, g.Name, g.RenamedFrom, nil})
	}
	return objects
}

func (c checker) namedTables() []named {
	var objects []named
	for _, t := range c.StreamTables {
		claims := []claim{{relation: t.Relation}}
		if t.Outbox != nil {
			base := t.Relation.Name
			full := []string{"outbox_" + base, "outbox_delta_rows_" + base, "pgt_outbox_latest_" + base}
			for _, relation := range derivedIn(c.Extension.Schema, full) {
				claims = append(claims, claim{relation: relation, ofTable: true, catalog: true})
			}
		}
		objects = append(objects, named{t.Place, t.Name, t.RenamedFrom, claims})
	}
	return objects
}
