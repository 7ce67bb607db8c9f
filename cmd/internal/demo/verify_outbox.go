package demo

// outbox sums up what was published and delivered.
func (f Facts) outbox() TypeRow {
	row := TypeRow{Type: "outbox shop_events", Outcome: f.Delivered}
	for _, count := range f.Published {
		row.Sent += count
	}
	for _, to := range f.Deliveries {
		row.Received++
		row.Duplicates += len(to) - 1
	}
	return row
}

// delivery goes by the ledger: what workers rolled back must not have been published, and the rest once.
func (f Facts) delivery() Check {
	missing, twice, unexpected := 0, 0, 0
	for id := range f.Effects {
		published, deliveries := f.Published[id], len(f.Deliveries[id])
		switch {
		case published == 0 || deliveries == 0:
			missing++
		case published > 1 || deliveries > 1:
			twice++
		}
	}
	for id := range f.Published {
		if f.Effects[id] == nil {
			unexpected++
		}
	}
	for id := range f.Deliveries {
		if f.Published[id] == 0 {
			unexpected++
		}
	}
	return check(missing+twice+unexpected == 0, "each effect was published and delivered once",
		"%d events, %d missing, %d more than once, %d unexpected", len(f.Effects), missing, twice, unexpected)
}

// takeover looks at what consumers held when they died.
func (f Facts) takeover() Check {
	held, taken := 0, 0
	for _, loss := range f.ConsumerLosses {
		for _, id := range loss.ids {
			held++
			if to := f.Deliveries[id]; len(to) == 1 && to[0] != loss.Worker {
				taken++
			}
		}
	}
	return check(held > 0 && taken == held, "what a dead consumer held went to others", "%d of %d", taken, held)
}
