package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// parts reads the changed rows of one refresh, deleted rows first. No more of them are in memory than one part has, but for those of an inline payload,
// which has 32 MB at most.
type parts struct {
	full    bool
	more    func(ctx context.Context, atMost int) ([]change, error) // none at the end
	ahead   []change                                                // read and not used
	ended   bool
	no      int  // parts that were made
	cleared bool // the event that removes all rows was made
}

type change struct {
	op   string
	data json.RawMessage
}

// part makes the next event of a refresh.
func (o *Outbox) part(ctx context.Context, r *row) (*wire.Event, error) {
	if r.parts == nil {
		payload, err := o.payload(ctx, r)
		if err != nil {
			return nil, err
		}
		if r.parts, err = o.begin(r, payload); err != nil {
			return nil, err
		}
		r.payload = nil
	}
	// An outbox that was disabled and enabled counts its ids anew. The time keeps consumers from taking a new refresh for an old one.
	e := &wire.Event{ID: fmt.Sprintf("%d-%d", r.id, r.createdAt.UnixMicro()), Origin: o.origin, Key: o.catalog.streamTable, Time: r.createdAt}
	if o.c.Unit == config.UnitRow {
		return e, o.changedRow(ctx, r, e)
	}
	p := r.parts
	changes, last, err := p.take(ctx, o.c.MaxPartRows, o.c.MaxPartBytes)
	if err != nil {
		return nil, err
	}
	p.no++
	r.read = last
	e.ID += "." + strconv.Itoa(p.no)
	e.Type, e.Payload = o.catalog.streamTable+".changed", p.payload(changes, last)
	return e, nil
}

// payload has the form of an inline payload of the outbox, and says which part it is.
func (p *parts) payload(changes []change, last bool) json.RawMessage {
	var inserted, deleted [][]byte
	for _, c := range changes {
		if c.op == "I" {
			inserted = append(inserted, c.data)
		} else {
			deleted = append(deleted, c.data)
		}
	}
	full := ""
	if p.full {
		full = `"full_refresh":true,`
	}
	comma := []byte(",")
	return fmt.Appendf(nil, `{"v":1,%s"part":%d,"last":%t,"deleted":[%s],"inserted":[%s]}`, full, p.no, last, bytes.Join(deleted, comma), bytes.Join(inserted, comma))
}

// changedRow makes the event of one changed row. All rows of a full refresh follow an event that removes all.
func (o *Outbox) changedRow(ctx context.Context, r *row, e *wire.Event) error {
	p, name := r.parts, o.catalog.streamTable
	if p.full && !p.cleared {
		p.cleared = true
		more, err := p.fill(ctx, 1)
		r.read = !more
		e.ID += ".0"
		e.Type, e.Row = name+".truncated", &wire.Row{Op: "T", Snapshot: true, Data: json.RawMessage("null")}
		return err
	}
	changes, last, err := p.take(ctx, 1, 1)
	if err != nil {
		return err
	}
	r.read = last
	if len(changes) == 0 { // an empty delta, which skip_empty_delta: false writes
		e.Type, e.Row = name+".unchanged", &wire.Row{Op: "N", Data: json.RawMessage("null")}
		return nil
	}
	p.no++
	kind := ".inserted"
	if changes[0].op == "D" {
		kind = ".deleted"
	}
	e.ID += "." + strconv.Itoa(p.no)
	e.Type, e.Row = name+kind, &wire.Row{Op: changes[0].op, Snapshot: p.full, Data: changes[0].data}
	return nil
}

// take returns the changes of one part, at least one if there is any, and whether it is the last part.
func (p *parts) take(ctx context.Context, rows, size int) (taken []change, last bool, err error) {
	for used := 0; len(taken) < rows; {
		more, err := p.fill(ctx, rows)
		if err != nil {
			return nil, false, err
		}
		if !more || len(taken) > 0 && used+len(p.ahead[0].data) > size {
			break
		}
		used += len(p.ahead[0].data)
		taken, p.ahead = append(taken, p.ahead[0]), p.ahead[1:]
	}
	more, err := p.fill(ctx, rows)
	return taken, !more, err
}

// fill reads ahead unless something is there, and reports whether there is.
func (p *parts) fill(ctx context.Context, rows int) (there bool, err error) {
	if len(p.ahead) == 0 && !p.ended {
		p.ahead, err = p.more(ctx, max(rows, 100))
		p.ended = err == nil && len(p.ahead) == 0
	}
	return len(p.ahead) > 0, err
}

// begin looks at the payload of a refresh.
func (o *Outbox) begin(r *row, payload json.RawMessage) (*parts, error) {
	var head struct {
		Full              bool `json:"full_refresh"`
		Deleted, Inserted []json.RawMessage
	}
	if err := json.Unmarshal(payload, &head); err != nil {
		return nil, fmt.Errorf("payload of row %d: %w", r.id, err)
	}
	if r.isClaim != nil && *r.isClaim {
		return &parts{full: head.Full, more: o.claimed(r.id)}, nil
	}
	changes := make([]change, 0, len(head.Deleted)+len(head.Inserted))
	for _, data := range head.Deleted {
		changes = append(changes, change{"D", data})
	}
	for _, data := range head.Inserted {
		changes = append(changes, change{"I", data})
	}
	return &parts{full: head.Full, ahead: changes, more: func(context.Context, int) ([]change, error) { return nil, nil }}, nil
}

// claimed reads the rows of a claim check by their numbers, some at a time, so that no transaction stays open while a sink is slow.
func (o *Outbox) claimed(id int64) func(ctx context.Context, atMost int) ([]change, error) {
	last := -1
	query := fmt.Sprintf("select r.row_num, r.op::pg_catalog.text, r.payload::pg_catalog.text from %s r where r.outbox_id operator(pg_catalog.=) $1 and r.row_num operator(pg_catalog.>) $2 order by r.row_num limit $3", o.catalog.deltas)
	return func(ctx context.Context, atMost int) (changes []change, err error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		rows, err := o.db.pool.Query(ctx, query, id, last, atMost)
		if err != nil {
			return nil, plain(err)
		}
		defer rows.Close()
		for used := 0; used < batchBytes && rows.Next(); {
			c := change{}
			if err := rows.Scan(&last, &c.op, (*[]byte)(&c.data)); err != nil {
				return nil, err
			}
			used += len(c.data)
			changes = append(changes, c)
		}
		rows.Close() // reads what is left of the answer, and keeps none of it
		return changes, plain(rows.Err())
	}
}
