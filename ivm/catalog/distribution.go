package catalog

import (
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// Distribution is where Citus keeps the rows of a table.
type Distribution struct {
	At     diag.Pos
	Column string // by whose value a row is on a shard; empty for a reference table, of which each node has a copy
	Group  string // tables of one group have the same shards, on the same nodes
}

// distribute notes how a table is distributed. Tables that are distributed by columns of one type are colocated unless a call says otherwise.
func (s *script) distribute(d *ddl.Distribute) {
	r := s.named(d.Table)
	if r == nil {
		return
	}
	r.Distributed = &Distribution{At: s.pos(d.At()), Column: d.Column}
	if d.Reference {
		return
	}
	at := r.Column(d.Column)
	if at < 0 {
		s.reportUnknown(d.At(), unknownColumn, r.ColumnNames(), d.Column, r.SQLName())
		r.Distributed = nil
		return
	}
	switch {
	case d.Alone:
		r.Distributed.Group = r.SQLName()
	case d.With.Name != "":
		with := s.named(d.With)
		if with == nil || with.Distributed == nil {
			r.Distributed.Group = d.With.Name
			return
		}
		r.Distributed.Group = with.Distributed.Group
	default:
		r.Distributed.Group = r.Columns[at].Type + " " + d.Shards
	}
}
