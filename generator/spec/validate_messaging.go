package spec

import (
	"time"

	"github.com/pgsluice/sluice/ivm/diag"
)

func (c checker) streamTable(t *StreamTable) {
	if t.Name != "" {
		c.tableName(t.Field("name"), "stream table", t.Name)
	}
	if t.RenamedFrom != "" {
		c.tableName(t.Field("renamed_from"), "stream table", t.RenamedFrom)
	}
	c.query(t)
	immediate := t.RefreshMode == RefreshImmediate
	if t.Outbox != nil && immediate && !t.Outbox.Immediate {
		c.report(t.Outbox.At, immediateOutbox, t.Name)
	}
	if t.Outbox != nil {
		c.roles(&t.Outbox.Roles)
		if t.Outbox.Roles.Producer != "" {
			c.report(t.Outbox.Roles.Field("producer"), noProducer, t.Name)
		}
	}
	if why, has := noChangesToCount[t.RefreshMode]; has && t.Fuse != nil {
		c.report(t.Field("fuse"), noFuse, t.RefreshMode, why)
	}
	switch {
	case t.Check == nil:
	case *t.Check < shortestCheck:
		c.report(t.Field("check"), checkTooOften, *t.Check, shortestCheck)
	case t.RefreshMode == RefreshFull:
		c.report(t.Field("check"), noCheck)
	}
}

// shortestCheck is the shortest time between two comparisons of a stream table with its query.
const shortestCheck = Duration(time.Second)

// noChangesToCount says why a fuse cannot act in a mode.
var noChangesToCount = map[string]string{
	RefreshFull: "which counts no changes: it recomputes everything", RefreshImmediate: "which applies changes within the statements that make them",
	RefreshAtCommit: "which applies changes as the transactions that make them commit",
}

func (c checker) query(t *StreamTable) {
	switch inline, file := t.Given("query"), t.Given("query_file"); {
	case inline && file:
		c.report(t.Field("query_file"), twoQueries, t.Name)
	case !inline && !file:
		c.report(t.At, noQuery, t.Name)
	}
}

func (c checker) tableName(at diag.Pos, kind, text string) {
	name, problem := parseName(text)
	if problem != "" {
		c.report(at, badTableName, kind, text, problem)
	}
	c.schema(at, name.Schema)
}

func (c checker) outbox(o *Outbox) {
	c.plainName(o.Place, "outbox", o.Name, o.RenamedFrom)
	c.roles(&o.Roles)
	if o.IdleGroup == nil {
		return
	}
	retention := c.Settings.hours("outbox_retention_hours")
	if o.Retention != nil {
		retention = *o.Retention
	}
	if o.IdleGroup.Given("after") && o.IdleGroup.After < retention {
		c.report(o.IdleGroup.Field("after"), idleBelow, o.IdleGroup.After, retention)
	}
}

func (c checker) consumerGroup(g *ConsumerGroup) {
	c.plainName(g.Place, "consumer group", g.Name, g.RenamedFrom)
	if g.Outbox == "" {
		return
	}
	published := c.published()
	if _, ok := published[g.Outbox]; ok {
		if c.severalOutboxes(g.Outbox) {
			c.report(g.Field("outbox"), severalOutboxes, g.Name, g.Outbox)
		}
		return
	}
	at := g.Field("outbox")
	for _, t := range c.StreamTables {
		if t.Name == g.Outbox || t.Relation.Name == g.Outbox {
			c.report(at, noTableOutbox, g.Name, g.Outbox)
			return
		}
	}
	for _, i := range c.Inboxes {
		if i.Name == g.Outbox {
			c.report(at, noChangeFeed, g.Name, g.Outbox)
			return
		}
	}
	e := unknownOutbox.at(at, g.Name, g.Outbox)
	e.Hint = nearestOutbox(g.Outbox, published)
	c.errs.Add(e)
}

// severalOutboxes reports whether a name without a schema stands for stream tables in several schemas.
func (c checker) severalOutboxes(name string) bool {
	tables := 0
	for _, o := range c.Outboxes {
		if o.Name == name {
			return false
		}
	}
	for _, t := range c.StreamTables {
		switch {
		case t.Name == name:
			return false
		case t.Outbox != nil && t.Relation.Name == name:
			tables++
		}
	}
	return tables > 1
}

// published are the names under which consumer groups can ask for an outbox.
func (c checker) published() map[string]bool {
	names := map[string]bool{}
	for _, o := range c.Outboxes {
		names[o.Name] = true
	}
	for _, t := range c.StreamTables {
		if t.Outbox != nil {
			names[t.Name], names[t.Relation.Name] = true, true
		}
	}
	for _, i := range c.Inboxes {
		if i.ChangeFeed {
			names[i.Name] = true
		}
	}
	return names
}

// nearestOutbox suggests the published name that was meant.
func nearestOutbox(name string, published map[string]bool) string {
	if len(published) == 0 {
		return "the spec has no outbox; define one under outboxes"
	}
	return nearestOf(name, sortedNames(published), "its outboxes are ")
}
