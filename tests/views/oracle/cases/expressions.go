package cases

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

//go:embed expressions.txt
var expressionsText string

// production is a line of expressions.txt.
type production struct {
	result  string // the sort; filter; agg. and a sort
	format  string // with a tree.Hole for each hole
	holes   []hole
	feature string
}

type hole struct {
	sort string // or filter
	how  string // col, expr, lit or nothing
	same int    // not 0: the hole of this number once more
}

var holeAt = regexp.MustCompile(`\{(?:([a-z]+8?)(?:\.(col|expr|lit))?|=(\d))\}`)

// productions has the lines of expressions.txt by their result.
var productions = parseProductions(expressionsText)

func parseProductions(text string) map[string][]*production {
	if _, last, ok := strings.Cut(text, "[nocase]"); ok { // which are those of citext, too
		text += strings.ReplaceAll("[nocase]"+last, "nocase", "citext")
	}
	all, feature := map[string][]*production{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			feature = strings.Trim(line, "[]")
		default:
			times, p := parseProduction(line)
			p.feature = feature
			for range times {
				all[p.result] = append(all[p.result], p)
			}
		}
	}
	return all
}

func parseProduction(line string) (times int, p *production) {
	result, template, _ := strings.Cut(line, " ")
	times = 1
	if rest, ok := strings.CutPrefix(template, "*"); ok {
		count, after, _ := strings.Cut(rest, " ")
		times, _ = strconv.Atoi(count)
		template = after
	}
	p = &production{result: result, format: holeAt.ReplaceAllString(template, tree.Hole)}
	for _, m := range holeAt.FindAllStringSubmatch(template, -1) {
		same, _ := strconv.Atoi(m[3])
		p.holes = append(p.holes, hole{m[1], m[2], same})
		if m[1] != "filter" && same == 0 {
			sortOf(m[1])
		}
	}
	return times, p
}

// term is something that expressions of a scope are made of: a column, or after grouping a key or an aggregate.
type term struct {
	sort  string
	node  *tree.Node
	name  string // of a column
	from  string // alias of the relation of a column
	small bool   // as of the column
}

// unqualified reports whether the term is the name of a column without a relation's.
func (t term) unqualified() bool { return t.name != "" && t.node.String() == t.name }

// scope is all terms there are at a place.
type scope []term

func (s scope) of(sort string) []term { return s.which(func(t term) bool { return t.sort == sort }) }

func (s scope) which(is func(term) bool) []term {
	var found []term
	for _, t := range s {
		if is(t) {
			found = append(found, t)
		}
	}
	return found
}

// usable are the terms that may be compared.
func (s scope) usable() scope {
	return s.which(func(t term) bool { return !sortOf(t.sort).opaque })
}

// builder makes expressions. It knows which features are on, and notes which are used.
type builder struct {
	random
	options  Options
	features map[string]bool
	twins    int
	values   map[string][]string // by sort, where a case has others than usual
}

func (b *builder) use(features ...string) {
	for _, f := range features {
		b.features[f] = true
	}
}

// valuesOf are those that columns of a sort have in this case.
func (b *builder) valuesOf(s *sort) []string {
	if values := b.values[s.name]; values != nil {
		return values
	}
	return s.values
}

// literal is a value of a sort, rarely null.
func (b *builder) literal(name string) *tree.Node {
	s := sortOf(name)
	values := b.valuesOf(s)
	if len(values) == 0 {
		return tree.Leaf(name, s.null())
	}
	return tree.Leaf(name, s.literal(pick(b.random, values)))
}

// expr is an expression of a sort.
func (b *builder) expr(s scope, sort string, depth int) *tree.Node {
	terms := s.of(sort)
	if depth > 0 && b.chance(50) {
		if fit := b.fitting(s, productions[sort], nil); len(fit) > 0 {
			return b.build(pick(b.random, fit), s, depth-1)
		}
	}
	if len(terms) > 0 && b.chance(88) {
		return pick(b.random, terms).node.Clone()
	}
	if b.chance(15) {
		return tree.Leaf(sort, sortOf(sort).null())
	}
	return b.literal(sort)
}

// reading is an expression of a sort that reads a term of it.
func (b *builder) reading(s scope, sort string, depth int) *tree.Node {
	t := pick(b.random, s.of(sort))
	if depth > 0 && b.chance(40) {
		reads := func(p *production) bool { return p.holes[0].sort == sort && p.holes[0].how == "" }
		if fit := b.fitting(s, productions[sort], reads); len(fit) > 0 {
			return b.build(pick(b.random, fit), s, depth-1, t.node.Clone())
		}
	}
	return t.node.Clone()
}

// over is an expression of any sort that reads a term, and its sort.
func (b *builder) over(s scope, t term, depth int) (*tree.Node, string) {
	var from []*production
	for _, sort := range sorts { // not the map: it has no order
		for _, p := range productions[sort.name] {
			if len(p.holes) > 0 && p.holes[0].sort == t.sort && p.holes[0].how != "lit" {
				from = append(from, p)
			}
		}
	}
	fit := b.fitting(s, from, nil)
	if len(fit) == 0 {
		return t.node.Clone(), t.sort
	}
	p := pick(b.random, fit)
	return b.build(p, s, depth-1, t.node.Clone()), p.result
}

// fitting are the productions that the scope has terms for.
func (b *builder) fitting(s scope, from []*production, also func(*production) bool) []*production {
	var fit []*production
	for _, p := range from {
		if b.fits(p, s) && (also == nil || len(p.holes) > 0 && also(p)) {
			fit = append(fit, p)
		}
	}
	return fit
}

func (b *builder) fits(p *production, s scope) bool {
	if p.feature != "" && !b.options.on(p.feature) {
		return false
	}
	reads := len(p.holes) == 0
	for _, h := range p.holes {
		has := h.same > 0 || h.sort == "filter" && len(s.usable()) > 0 || len(s.of(h.sort)) > 0
		if !has && (h.how == "col" || h.how == "expr" || h.sort == "filter") {
			return false
		}
		reads = reads || has && h.how != "lit"
	}
	return reads
}

// build fills the holes of a production, the first with what is given.
func (b *builder) build(p *production, s scope, depth int, given ...*tree.Node) *tree.Node {
	if p.feature != "" {
		b.use(p.feature)
	}
	kids := given
	for _, h := range p.holes[len(given):] {
		kids = append(kids, b.fill(h, s, depth, kids))
	}
	sort := strings.TrimPrefix(p.result, "agg.")
	if sort == "filter" {
		sort = "bool"
	}
	return tree.New(sort, p.format, kids...)
}

func (b *builder) fill(h hole, s scope, depth int, kids []*tree.Node) *tree.Node {
	switch {
	case h.same > 0:
		return b.twin(kids[h.same-1])
	case h.sort == "filter":
		return b.filter(s, depth)
	case h.how == "lit":
		return b.literal(h.sort)
	case h.how == "col":
		return pick(b.random, s.of(h.sort)).node.Clone()
	case h.how == "expr":
		return b.reading(s, h.sort, depth)
	}
	return b.expr(s, h.sort, depth)
}

// twin is an equal node that has to stay equal.
func (b *builder) twin(n *tree.Node) *tree.Node {
	if n.Twin == 0 {
		b.twins++
		n.Twin = b.twins
	}
	return n.Clone()
}

// filter is a condition over the scope.
func (b *builder) filter(s scope, depth int) *tree.Node {
	fit := b.fitting(s, productions["filter"], nil)
	if len(fit) == 0 {
		if len(s) == 0 {
			return tree.Leaf("bool", "true")
		}
		return tree.New("bool", tree.Hole+" is not null", pick(b.random, s).node.Clone())
	}
	return b.build(pick(b.random, fit), s, depth)
}

// aggregate is one over the scope, and its sort.
func (b *builder) aggregate(s scope) term {
	var from []*production
	for _, sort := range sorts {
		from = append(from, productions["agg."+sort.name]...)
	}
	p := pick(b.random, b.fitting(s, from, nil))
	node := b.build(p, s, 1)
	if len(s.usable()) > 0 && b.chance(18) && !strings.Contains(p.format, " filter ") && !strings.Contains(p.format, "within") {
		b.use("aggregate filter")
		node = tree.New(node.Sort, fmt.Sprintf("%[1]s filter (where %[1]s)", tree.Hole), node, b.filter(s, 0))
	}
	return term{sort: strings.TrimPrefix(p.result, "agg."), node: node}
}
