package spec

import (
	"strconv"
	"time"
)

// The delays of an inbox whose spec gives none.
const (
	defaultRetryInitial = Duration(time.Second)
	defaultRetryMax     = Duration(5 * time.Minute)
)

// complete fills in the defaults that depend on other fields. Constant defaults stand in the struct tags.
func (s *Spec) complete() {
	s.Extension.Oldest, _ = strconv.Atoi(trimPlus(s.Extension.Postgres))
	if s.Artifacts == nil {
		for _, name := range s.Extension.defaultArtifacts() {
			s.Artifacts = append(s.Artifacts, Text{At: s.At, Value: name})
		}
	}
	for i := range s.StreamTables {
		s.StreamTables[i].complete(s.Extension.Schema)
	}
	for i := range s.Inboxes {
		s.Inboxes[i].complete(s.Extension.Schema)
	}
}

// defaultArtifacts are those of a spec that does not list any.
func (e Extension) defaultArtifacts() []string {
	if on, is := targets[e.Target]; is {
		return on.artifacts
	}
	return []string{ArtifactExtension, ArtifactMigrations, ArtifactJobs, ArtifactDocs}
}

func (t *StreamTable) complete(schema string) {
	t.Relation, _ = parseName(t.Name)
	if t.Relation.Schema == "" {
		t.Relation.Schema = schema
	}
}

func (i *Inbox) complete(schema string) {
	if i.Schema == "" {
		i.Schema = schema
	}
	i.Relation = Name{i.Schema, i.Name}
	if !i.Managed() {
		i.Relation, _ = parseName(i.Table)
	}
	if i.Retry == nil && (i.Managed() || i.Columns != nil && i.Columns.AvailableAt != "") { // a table of the user's may lack the column that it needs
		i.Retry = &Retry{Place: Place{At: i.At}, Backoff: BackoffExponential, Initial: defaultRetryInitial}
	}
	if i.Retry != nil && !i.Retry.Given("max") {
		i.Retry.Max = max(defaultRetryMax, i.Retry.Initial)
	}
	if i.Ordering != nil {
		i.Ordering.complete(i.Managed())
	}
	if i.Priority != nil {
		i.Priority.complete(i.Schedule)
	}
}

// complete chooses the mode by the sequence's type: a managed inbox's own received_at is a timestamp, an added column a number.
// Of the user's tables only the catalog knows; their mode stays empty.
func (o *Ordering) complete(managed bool) {
	switch {
	case o.Mode != "":
	case o.Sequence == "received_at":
		o.Mode = OrderingMonotonic
	case managed:
		o.Mode = OrderingContiguous
	}
}

func (p *Priority) complete(schedule Schedule) {
	switch {
	case p.Column != "":
	case p.Tiers != nil:
		p.Column = "priority"
	default:
		p.Column = "event_type"
	}
	for i := range p.Tiers {
		if !p.Tiers[i].Given("schedule") {
			p.Tiers[i].Schedule = schedule
		}
	}
}
