package objects

import (
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// What is made at run time follows a rename relation by relation, so all that there may be is listed.

func relation(kind string, name render.Name, comment string, constraints ...string) upgrade.Relation {
	return upgrade.Relation{Kind: kind, Schema: name.Schema, Name: name.Name, Comment: comment, Constraints: constraints}
}

// notNull are the names of the constraints of these columns, where the server gives them any.
func notNull(table render.Name, columns ...string) []string {
	var names []string
	for _, column := range columns {
		names = append(names, upgrade.ConstraintName(table.Name, column, "not_null"))
	}
	return names
}

func logRelations(s render.Source) []upgrade.Relation {
	return []upgrade.Relation{
		relation("table", s.Log, "", notNull(s.Log, "__no", "__xid", "__mult")...),
		relation("index", s.XidIndex, ""), relation("index", s.MarkIndex, ""),
	}
}

func pendingRelations(c render.Capture) []upgrade.Relation {
	return []upgrade.Relation{relation("table", c.Log, ""), relation("index", c.XidIndex, "")}
}

func tableRelations(t render.StreamTable) []upgrade.Relation {
	relations := []upgrade.Relation{
		relation("view", t.Table, t.Comment()), relation("table", t.Rows, "", notNull(t.Rows, append(t.NotNull, "__mult")...)...),
		relation("index", t.KeyIndex, ""), relation("index", t.LookupIndex, ""), relation("index", t.HashIndex, ""), relation("table", t.Old, ""),
	}
	if t.Shape.Name != "" {
		relations = append(relations, relation("table", t.Shape, ""))
	}
	return relations
}

func stateRelations(t render.StreamTable) []upgrade.Relation {
	relations := []upgrade.Relation{
		relation("table", t.Rows, "", notNull(t.Rows, t.NotNull...)...), relation("index", t.KeyIndex, ""), relation("index", t.LookupIndex, ""), relation("index", t.HashIndex, ""),
	}
	for _, index := range t.Indexes {
		relations = append(relations, relation("index", index.Name, ""))
	}
	return relations
}

func outboxRelations(o render.Outbox) []upgrade.Relation {
	return []upgrade.Relation{
		relation("table", o.Table, o.Comment(), notNull(o.Table, "id", "pgt_id", "refresh_id", "created_at", "inserted_count", "deleted_count", "is_claim_check", "payload")...),
		relation("table", o.DeltaRows, o.DeltaRowsComment(), append(notNull(o.DeltaRows, "outbox_id", "row_num", "op", "payload"),
			upgrade.ConstraintName(o.DeltaRows.Name, "outbox_id", "fkey"), upgrade.ConstraintName(o.DeltaRows.Name, "op", "check"))...),
		relation("view", o.Latest, o.LatestComment()), relation("sequence", o.IDs, ""),
	}
}

func toldRelations(o render.Outbox) []upgrade.Relation {
	index := render.Name{Schema: o.Pending.Schema, Name: upgrade.ConstraintName(o.Pending.Name, "xid", "idx")}
	return []upgrade.Relation{
		relation("table", o.Pending, "", notNull(o.Pending, "xid", "mult", "change")...), relation("index", index, ""),
	}
}
