package objects

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// triggersLock describes the lock that blocks writers of a source while its triggers are created.
const triggersLock = "SHARE ROW EXCLUSIVE on the table that it is of, for a moment"

// madeOf lists the objects that functions of the extension make at run time, sources before their readers.
func madeOf(view render.Extension) []upgrade.Made {
	var made []upgrade.Made
	forget := func(source string) string {
		return fmt.Sprintf("delete from %s.pgt_source_state where source = %s;\n", view.Internal(), sqltext.Literal(source))
	}
	for _, s := range view.Sources {
		var triggers []string
		if !s.Made {
			triggers = s.Triggers.Names()
		}
		made = append(made, upgrade.Made{
			Kind: "change log", Triggers: triggers, Name: s.ID(), On: []string{s.Table.String()}, Drop: dropOwn(view, s.Log) + forget(s.ID()),
			Definition: digestOf("shadow/change_log.sql", s), Recreate: forget(s.ID()), Lock: triggersLock, Relations: logRelations(s),
			Shadow: render.Must("shadow/change_log.sql", s),
		})
	}
	for _, c := range view.Captures {
		var triggers []string
		if !c.Made {
			triggers = c.TriggerNames()
			if len(c.Locked) == 0 {
				triggers = slices.DeleteFunc(triggers, func(name string) bool { return name == c.OnBefore })
			}
		}
		made = append(made, upgrade.Made{
			Kind: "pending changes", Triggers: triggers, Name: c.ID(), On: []string{c.Table.String()}, Drop: dropOwn(view, c.Log) + forget(c.ID()),
			Definition: fmt.Sprint(c.ColumnList, c.MadeTriggers(), c.FunctionList()), Recreate: forget(c.ID()), Lock: triggersLock, Relations: pendingRelations(c),
		})
	}
	for _, o := range view.EventOutboxes() {
		made = append(made, eventOutbox(view, o)...)
	}
	for _, i := range view.OwnTables() {
		made = append(made, ownTable(view, i))
	}
	for _, i := range view.Inboxes {
		made = append(made, countsOf(view, i))
	}
	for _, t := range view.StreamTables {
		for _, role := range t.Grants {
			made = append(made, rights("reader", role, t.Table.String())...)
		}
		for _, index := range t.Indexes {
			drop := fmt.Sprintf("drop index if exists %s;\n", index.Name)
			made = append(made, upgrade.Made{
				Kind: "index", Name: index.Name.Plain(), Definition: index.Key(), Drop: drop, Recreate: drop, Lock: "SHARE on what it is of, as long as it takes to read it all",
				On: []string{t.Rows.String()}, Relations: []upgrade.Relation{relation("index", index.Name, "")},
			})
		}
		for _, state := range t.States {
			made = append(made, stateOf(view, t, state))
		}
		shadow := render.Must("shadow/stream_table.sql", t)
		t.Outbox, t.Grants, t.Indexes, t.Unchecked = nil, nil, nil, true // they change nothing of what it holds
		made = append(made, upgrade.Made{
			Kind: "stream table", Name: t.ID(), On: follows(view, t), Definition: digestOf("shadow/stream_table.sql", t), Shadow: shadow,
			Drop:     dropOwn(view, t.Table) + dropStores(view, t),
			Recreate: fmt.Sprintf("update %s set seen = null, own_xid = null, own_no = null, in_step = null, refit = true, remake = true where stream_table = %s;\n", t.State, sqltext.Literal(t.ID())),
			Lock:     remakeLock(t), Columns: t.Visible, Relations: tableRelations(t), Beside: t.Online,
		}, upgrade.Made{
			Kind: "contents of stream table", Name: t.ID(), On: follows(view, t), Definition: contentsOf(t),
			Recreate: fmt.Sprintf("update %s set seen = null, own_xid = null, own_no = null, in_step = null where stream_table = %s;\n", t.State, sqltext.Literal(t.ID())),
			Lock:     refillLock(t), PartOf: "stream table " + t.ID(),
		})
	}
	for _, o := range view.MadeOutboxes() {
		made = append(made, madeOutbox(view, o)...)
	}
	for _, g := range view.Groups {
		made = append(made, consumerGroup(view, g))
	}
	return made
}

// countsOf are the counts of an inbox, which are made anew where messages count otherwise.
func countsOf(view render.Extension, i render.Inbox) upgrade.Made {
	on, definition := []string{i.Table.String()}, fmt.Sprint(i.MaxRetries, i.DeadLetter, i.Retry != nil)
	if i.Own != nil {
		on = append(on, i.Rows.String())
	}
	if i.Own != nil && i.Ordering != nil {
		definition += " " + i.BacklogID()
	}
	return upgrade.Made{
		Kind: "counts of inbox", Name: i.Name, On: on, Definition: definition,
		Recreate: fmt.Sprintf("select %s.pgt_inbox_rebuild(%s);\n", view.Internal(), sqltext.Literal(i.Name)), Lock: "SHARE ROW EXCLUSIVE on the inbox, as long as it is counted",
	}
}

// stateOf is the table of a state. attach() creates it where it is missing, and the next refresh fills it with the rows.
func stateOf(view render.Extension, t, state render.StreamTable) upgrade.Made {
	drop := dropOwn(view, state.Rows)
	return upgrade.Made{
		Kind: "state of stream table", Name: t.ID() + " " + state.Rows.Name, Definition: strings.Join(state.CreateStore(), ";\n"), Drop: drop, Recreate: drop,
		Lock: "ACCESS EXCLUSIVE on it, for a moment", Relations: stateRelations(state),
	}
}

// ownTable is what attach() creates on the table of a user that an inbox is over. What changed is detached first.
func ownTable(view render.Extension, i render.Inbox) upgrade.Made {
	indexes := []render.Name{i.OrderIndex}
	if i.Own.IDIndex.Name != "" {
		indexes = append(indexes, i.Own.IDIndex)
	}
	var relations []upgrade.Relation
	for _, index := range indexes {
		relations = append(relations, relation("index", index, ""))
	}
	drop := fmt.Sprintf("select %s.pgt_detach_table(%s, %s);\n", view.Internal(), i.TriggerArray(), i.IndexArray())
	return upgrade.Made{
		Kind: "inbox table", Name: i.Name + " on " + i.Table.String(), On: []string{i.Table.String()}, Definition: digestOf("inbox/attach_table.sql", i),
		Triggers: i.TriggerList(), Drop: drop, Recreate: fmt.Sprintf("select %s();\n", i.Own.DetachFn), Lock: "ACCESS EXCLUSIVE on the table that it is of, for a moment", Relations: relations,
	}
}

// follows lists the tables whose triggers write a stream table, or write one that it reads.
func follows(view render.Extension, t render.StreamTable) []string {
	var tables []string
	for _, changes := range t.Pending {
		tables = append(tables, changes.Table.String())
		for _, read := range view.StreamTables {
			if read.Table == changes.Table {
				tables = append(tables, follows(view, read)...)
			}
		}
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}

// remakeLock describes the lock under which a stream table with another definition is created and filled.
func remakeLock(t render.StreamTable) string {
	if t.Online {
		return "ACCESS EXCLUSIVE on it, for a moment: it is filled beside the old rows, which are shown until then"
	}
	const readers = "ACCESS EXCLUSIVE on it, as long as its query runs"
	if t.Immediate {
		return readers + ", and so do writers of what it reads wait"
	}
	return readers
}

// refillLock describes the lock under which the rows of a stream table are recomputed.
func refillLock(t render.StreamTable) string {
	if t.Immediate {
		return "SHARE ROW EXCLUSIVE on what it reads, as long as its query runs"
	}
	return "nobody: it has its rows until the next refresh, which recomputes them and applies the difference"
}

// contentsOf identifies the rows of a stream table: it changes with the query, with how rows are stored, and with the tables after whose changes
// they are recomputed, as logs of earlier changes may be pruned.
func contentsOf(t render.StreamTable) string {
	how := t.EffectiveMode + " " + t.Strategy + " " + digestOf("stream_table/recompute.sql", t)
	if t.ComputedFn.Name != "" {
		how += " " + digestOf("stream_table/computed.sql", t)
	}
	if t.EffectiveMode == spec.RefreshFull {
		for _, log := range t.Logs {
			how += " " + log.ID()
		}
	}
	return how
}

// digestOf is the digest of a rendered object without its header.
func digestOf(template string, data any) string {
	sql := render.Must(template, data)
	sql = sql[strings.Index(sql, "\ncreate "):]
	sum := sha256.Sum256([]byte(sql))
	return hex.EncodeToString(sum[:16])
}
