package relay

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pgsluice/sluice/cmd/internal/relay/postgres"
)

// printed is a document of a dry run.
type printed struct {
	Pipeline string            `json:"pipeline"`
	Address  string            `json:"address,omitempty"`
	Key      string            `json:"key,omitempty"`
	ID       string            `json:"id,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     any               `json:"body,omitempty"`
	Rejected string            `json:"rejected,omitempty"`
}

// Dry prints the documents that pipelines from outboxes would send next, a line of JSON each, up to a number for each pipeline. It sends nothing, and takes no
// leases.
func (r *Relay) Dry(ctx context.Context, events int) (err error) {
	if r.database, err = postgres.Open(r.Config.Database, r.Config.Schema, maxConnections); err != nil {
		return err
	}
	defer r.database.Close()
	out := json.NewEncoder(r.Stdout)
	out.SetEscapeHTML(false)
	for i := range r.Config.Pipelines {
		c := &r.Config.Pipelines[i]
		if c.From.Outbox == nil {
			r.Log.Warn("a dry run shows pipelines from outboxes only", "pipeline", c.Name)
			continue
		}
		next, err := r.database.Peek(ctx, c.From.Outbox, events)
		if err != nil {
			return fmt.Errorf("pipeline %s: %w", c.Name, err)
		}
		encoder, err := encoder(c, &c.To)
		if err != nil {
			return err
		}
		for _, e := range next {
			line := printed{Pipeline: c.Name}
			if d, err := encoder.Encode(e); err != nil {
				line.ID, line.Rejected = e.Unique(), err.Error()
			} else {
				line.Address, line.Key, line.ID, line.Headers, line.Body = d.Address, d.Key, d.ID, d.Headers, json.RawMessage(d.Body)
			}
			if err := out.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
}
