package plan

import (
	"slices"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// follow notes which columns of which tables a stream table needs the changes of.
func (p *planner) follow(n int) {
	if !p.incremental(n) {
		return
	}
	view, reader := p.compiled.views[n], render.Name(p.spec.StreamTables[n].Relation)
	for _, need := range view.Needs {
		r := need.Table
		source := p.sources[r]
		if source == nil {
			source = p.source(r)
			p.sources[r] = source
			p.order = append(p.order, r)
		}
		setColumns(source, r, inOrder(r, union(source.ColumnList, need.Columns)))
		source.Readers = append(source.Readers, reader)
	}
}

// inOrder sorts columns as their table has them, so that a log keeps its columns when other stream tables read them first.
func inOrder(r *catalog.Relation, names []string) []string {
	slices.SortFunc(names, func(a, b string) int { return r.Column(a) - r.Column(b) })
	return names
}

// union is a list and what others have beside it.
func union(list, others []string) []string {
	for _, name := range others {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// upstream are the stream tables that one reads, directly or not, in the order of their refreshes.
func (p *planner) upstream(n int) []string {
	needed := map[render.Name]bool{}
	p.needs(n, needed)
	var up []string
	for _, t := range p.tables {
		if needed[t.Table] {
			up = append(up, t.ID())
		}
	}
	return up
}

func (p *planner) needs(n int, needed map[render.Name]bool) {
	for _, m := range p.compiled.reads[n] {
		needed[render.Name(p.spec.StreamTables[m].Relation)] = true
		p.needs(m, needed)
	}
}

// feeds are where the changes of a stream table go for others that follow it.
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
