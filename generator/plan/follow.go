package plan

import (
	"cmp"
	"slices"

	"github.com/pgsluice/sluice/generator/render"
)

// follow adds the columns that a stream table reads to the change logs of its sources; one that is recomputed only needs to know of changes.
func (p *planner) follow(n int) {
	needs, reader, incremental := p.watched(n), render.Name(p.spec.StreamTables[n].Relation), p.incremental(n)
	if incremental {
		needs = p.compiled.views[n].Needs
	}
	for _, need := range needs {
		r := need.Table
		source := p.sources[r]
		if source == nil {
			source = p.source(r)
			p.sources[r] = source
			p.order = append(p.order, r)
		}
		setColumns(source, r, inOrder(r, union(source.ColumnList, need.Columns)))
		source.Whole = source.Whole || need.Whole
		source.Readers = append(source.Readers, reader)
		source.Followed, source.Watched = source.Followed || incremental, source.Watched || !incremental
		switch {
		case p.atCommit(n):
			source.CommitMark = commitMark(r)
		case incremental:
			source.Refreshed = true
		}
	}
}

// upstream are the stream tables that one reads, directly or not, in the order of their refreshes.
func (p *planner) upstream(n int) []string {
	needed := map[render.Name]bool{}
	p.needs(n, needed)
	var up []render.StreamTable // which come before it
	for _, t := range p.tables {
		if needed[t.Table] {
			up = append(up, t)
		}
	}
	slices.SortFunc(up, byUpstream)
	var names []string
	for _, t := range up {
		names = append(names, t.ID())
	}
	return names
}

// byUpstream is the order of refreshes: what a stream table reads has less upstream than itself. No other stream table changes it.
func byUpstream(a, b render.StreamTable) int {
	return cmp.Or(cmp.Compare(len(a.Upstream), len(b.Upstream)), cmp.Compare(a.ID(), b.ID()))
}

func (p *planner) needs(n int, needed map[render.Name]bool) {
	for _, m := range p.compiled.reads[n] {
		needed[render.Name(p.spec.StreamTables[m].Relation)] = true
		p.needs(m, needed)
	}
}

// feeds lists the change logs and captures through which others follow a stream table.
func (p *planner) feeds(n int) []render.Source {
	name := render.Name(p.spec.StreamTables[n].Relation)
	var feeds []render.Source
	for _, r := range p.order {
		if s := p.sources[r]; s.Made && s.Table == name {
			feeds = append(feeds, *s)
		}
	}
	for _, r := range p.captured {
		if c := p.captures[r]; c.Made && c.Table == name {
			feeds = append(feeds, c.Source)
		}
	}
	return feeds
}
