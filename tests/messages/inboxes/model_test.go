package inboxes

import (
	"fmt"
	"slices"
	"strings"
)

// message is one that an inbox may get, in whatever state it is.
type message struct {
	id, aggregate string
	sequence      int
	state         string // absent, open (its publisher has not committed), pending, processed, dead
	holder        string // whose open transaction has claimed it
	lease         int64
	leased        string // to whom
	expired       bool   // the lease is over, and nobody else has claimed the message since
	delayed       bool   // after a failure
	failures      int
	claims        int  // that ended without a mark
	leases        int  // that ended without a mark
	late          bool // the one before it was processed while its transaction was open: a tick wakes it
}

// model is what is known of an inbox.
type model struct {
	messages    []*message
	ordered     bool
	maxRetries  int
	maxAttempts int
	ticks       int
}

// isFree reports that a message is to be handed out: it is due, nobody has it, and in an ordered inbox it is the next of its aggregate.
func (m *model) isFree(of *message) bool {
	if of.state != "pending" || of.holder != "" || of.delayed || of.lease != 0 && !of.expired {
		return false
	}
	return !m.ordered || !slices.ContainsFunc(m.messages, func(before *message) bool {
		return before.aggregate == of.aggregate && before.sequence < of.sequence && before.state != "processed"
	})
}

// isAlone reports that a message had half of its attempts, as far as claims or leases see.
func (m *model) isAlone(of *message, leases bool) bool {
	half := (m.maxAttempts + 1) / 2
	return of.claims >= half || leases && of.leases >= half
}

// isFrail reports that few actions wear a message out.
func (m *model) isFrail() bool { return m.maxAttempts < 10 }

// isWorn reports that a message had all its attempts, of either kind. Claims leave one alone that ended leases have worn out; a tick or a lease does not.
func (m *model) isWorn(of *message) bool {
	return of.claims >= m.maxAttempts || of.leases >= m.maxAttempts
}

// isLeasedTo reports that a worker has a lease, though another's transaction may be at the message now.
func (m *model) isLeasedTo(worker string) bool {
	return slices.ContainsFunc(m.messages, func(of *message) bool { return of.leased == worker })
}

// claimed checks what a claim or a lease returned.
func (m *model) claimed(got []*message, limit int, leases bool) error {
	free := 0
	for _, each := range m.messages {
		if m.isFree(each) && !m.isWorn(each) && !each.late {
			free++
		}
	}
	for n, each := range got {
		switch {
		case !m.isFree(each):
			return fmt.Errorf("%s is handed out: %+v", each.id, *each)
		case slices.Contains(got[:n], each):
			return fmt.Errorf("%s is handed out twice", each.id)
		case each.claims >= m.maxAttempts || leases && each.leases >= m.maxAttempts:
			return fmt.Errorf("%s is handed out after %d claims and %d leases of %d", each.id, each.claims, each.leases, m.maxAttempts)
		case m.isAlone(each, leases) && len(got) > 1:
			return fmt.Errorf("%s had half of its attempts and is handed out with others", each.id)
		}
	}
	least := min(limit, free)
	if m.isFrail() { // one that was changed may have had half of its attempts, and is alone, too
		least = min(1, free)
	}
	if len(got) > limit || len(got) < least {
		return fmt.Errorf("%d messages are handed out of %d", len(got), free)
	}
	return nil
}

// failed notes a failure of a message, after which it waits or is dead.
func (m *model) failed(of *message) {
	of.failures++
	of.claims, of.leases, of.lease, of.leased, of.expired = 0, 0, 0, "", false
	if of.failures >= m.maxRetries {
		of.state = "dead"
	} else {
		of.delayed = true
	}
}

// processed notes that a message was marked.
func (m *model) processed(of *message) {
	*of = message{id: of.id, aggregate: of.aggregate, sequence: of.sequence, state: "processed", failures: of.failures}
	for _, each := range m.messages {
		each.late = each.late || m.ordered && each.state == "open" && each.aggregate == of.aggregate && each.sequence > of.sequence
	}
}

// ticked notes that what came late is awake.
func (m *model) ticked() {
	for _, each := range m.messages {
		each.late = each.late && each.state == "open"
	}
}

// heldBy lists what a worker has leased and not lost, or has claimed in its open transaction.
func (m *model) heldBy(worker string) (held []*message) {
	for _, each := range m.messages {
		if each.holder == worker || each.holder == "" && each.leased == worker {
			held = append(held, each)
		}
	}
	return held
}

// text is the state, with the two workers under other names.
func (m *model) text(name map[string]string) string {
	var b strings.Builder
	fmt.Fprint(&b, m.ticks)
	for _, each := range m.messages {
		fmt.Fprintf(&b, " %s", each.state)
		if each.state == "pending" {
			fmt.Fprintf(&b, "%s/%s%v%v%v%d", name[each.holder], name[each.leased], each.expired, each.delayed, each.late, each.failures)
			if m.isFrail() {
				fmt.Fprintf(&b, "/%d%d", each.claims, each.leases)
			}
		}
	}
	return b.String()
}
