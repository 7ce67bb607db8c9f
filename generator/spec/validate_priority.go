package spec

import "slices"

func (c checker) priority(i *Inbox) {
	p := i.Priority
	switch byMap, byTiers := p.Given("map"), p.Given("tiers"); {
	case byMap && byTiers:
		c.errs.Add(twoPriorities.since(p.Field("tiers"), p.Field("map"), i.Name))
	case !byMap && !byTiers:
		c.report(p.At, noPriority, i.Name)
	case byMap && p.Map != nil && len(p.Map) == 0:
		c.report(p.Field("map"), emptyPriority, "map", i.Name)
	case byTiers && p.Tiers != nil && len(p.Tiers) == 0:
		c.report(p.Field("tiers"), emptyPriority, "tiers", i.Name)
	}
	if p.Tiers != nil && i.WireFormat != WireNative {
		c.report(p.Field("tiers"), wiredTiers, i.Name)
	}
	if p.MaxWait == 0 {
		c.report(p.Field("max_wait"), noWait)
	}
	for n := range p.Tiers {
		c.tier(&p.Tiers[n], p.Tiers[:n])
	}
}

// tier checks a tier by itself and against the earlier ones.
func (c checker) tier(t *Tier, earlier []Tier) {
	if t.Schedule.Calculated {
		c.report(t.Field("schedule"), calculatedInbox)
	}
	if t.Min > t.Max {
		c.report(t.Field("min"), tierBackwards, t.Name, t.Min, t.Max)
		return
	}
	overlaps := func(o Tier) bool { return o.Min <= t.Max && t.Min <= o.Max }
	if n := slices.IndexFunc(earlier, overlaps); n >= 0 && t.readable() && earlier[n].readable() {
		c.errs.Add(tierOverlap.since(t.At, earlier[n].At, earlier[n].Name, t.Name, max(t.Min, earlier[n].Min)))
	}
	if n := slices.IndexFunc(earlier, func(o Tier) bool { return o.Name == t.Name }); n >= 0 && t.Name != "" {
		c.errs.Add(duplicateName.since(t.Field("name"), earlier[n].Field("name"), "tier", t.Name))
	}
}

// readable reports whether both ends of the range are given.
func (t Tier) readable() bool { return t.Given("min") && t.Given("max") }
