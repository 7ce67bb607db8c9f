package live

import (
	"fmt"
	"time"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// OutboxStatus is how much an outbox holds.
type OutboxStatus struct {
	Name             string   `json:"name" db:"name"`
	Rows             int64    `json:"rows" db:"rows"`
	OldestAgeSeconds *float64 `json:"oldest_age_seconds" db:"oldest_age_seconds"` // nil if it is empty
	TotalBytes       int64    `json:"total_bytes" db:"total_bytes"`
	Storage          string   `json:"storage_status" db:"storage_status"`

	// When a tick of the last day found the sequence at an id below what groups were granted, and set it to that; nil if none did.
	AdvancedAt   *time.Time `json:"sequence_advanced_at,omitempty" db:"advanced_at"`
	AdvancedFrom *int64     `json:"sequence_advanced_from,omitempty" db:"advanced_from"`
	AdvancedTo   *int64     `json:"sequence_advanced_to,omitempty" db:"advanced_to"`
	CameLate     *int64     `json:"sequence_late_rows,omitempty" db:"came_late"` // events published meanwhile, which groups get all the same
}

// GroupStatus is how a consumer group is doing.
type GroupStatus struct {
	Name        string `json:"name" db:"name"`
	Outbox      string `json:"outbox" db:"outbox"`
	Lag         int64  `json:"lag_rows" db:"lag_rows"`
	Leased      int64  `json:"leased_rows" db:"leased_rows"`
	Consumers   int64  `json:"consumers" db:"consumers"`
	Healthy     int64  `json:"healthy_consumers" db:"healthy_consumers"`
	DeadLetters int64  `json:"dead_letters" db:"dead_letters"`
	Paused      bool   `json:"paused" db:"paused"`

	HeldBy      *string  `json:"held_by" db:"held_by"` // the transaction for which polls wait too long, nil if there is none
	HeldSeconds *float64 `json:"held_seconds" db:"held_seconds"`
}

// GapStatus is a transaction that may still publish ids of an outbox, above which others were consumed.
type GapStatus struct {
	Outbox  string   `json:"outbox" db:"outbox"`
	FirstID int64    `json:"first_id" db:"first_id"` // the lowest that it may have
	PID     *int32   `json:"pid" db:"pid"`           // of its session; nil if it is prepared
	GID     *string  `json:"gid" db:"gid"`           // of a prepared one
	Caches  bool     `json:"caches" db:"caches"`     // no transaction: sessions may have ids in their caches
	AgeSec  *float64 `json:"age_seconds" db:"age_seconds"`
}

// Holder names the transaction.
func (g GapStatus) Holder() string {
	switch {
	case g.Caches:
		return "ids that sessions have cached"
	case g.GID != nil:
		return "prepared transaction " + sqltext.Literal(*g.GID)
	case g.PID != nil:
		return fmt.Sprintf("the transaction of pid %d", *g.PID)
	}
	return "a transaction" // that is being prepared just now
}
