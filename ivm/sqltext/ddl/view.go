package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

func (r *reader) createView(n *pg_query.ViewStmt) {
	name := r.rangeVar(n.View)
	if r.recursive() {
		r.add(&NotUnderstood{place: place(name.Pos), Name: name, Statement: "CREATE RECURSIVE VIEW"})
		return
	}
	r.addView(&CreateView{
		place:     place(name.Pos),
		Name:      name,
		Columns:   sqltext.Strings(n.Aliases),
		Temporary: n.View.Relpersistence == "t",
		Replace:   n.Replace,
	})
}

func (r *reader) addView(v *CreateView) {
	start, end := r.viewQuery()
	v.Query = r.text[start:end]
	v.QueryAt = r.pos(start)
	r.add(v)
}

// recursive reports whether the statement is CREATE RECURSIVE VIEW.
func (r *reader) recursive() bool {
	for _, t := range r.scan() {
		if t.Token == pg_query.Token_RECURSIVE || t.Token == pg_query.Token_VIEW {
			return t.Token == pg_query.Token_RECURSIVE
		}
	}
	return false
}

// viewQuery returns where the query of a view begins and ends: behind the first AS outside parentheses, and before what may follow it.
func (r *reader) viewQuery() (start, end int) {
	tokens := r.scan()
	as := topLevel(tokens, 0, pg_query.Token_AS)
	if as < 0 || as+1 >= len(tokens) {
		return 0, 0
	}
	last := len(tokens) - 1
	if with := withTail(tokens); with > as+1 {
		last = with - 1
	}
	return int(tokens[as+1].Start), int(tokens[last].End)
}

// withTail returns the index of the WITH [NO] DATA or WITH [LOCAL | CASCADED] CHECK OPTION that ends a view, or -1.
func withTail(tokens []*pg_query.ScanToken) int {
	last := len(tokens) - 1
	if last < 3 || tokens[last].Token != pg_query.Token_DATA_P && tokens[last].Token != pg_query.Token_OPTION {
		return -1
	}
	for i := last - 1; i >= last-3; i-- {
		if tokens[i].Token == pg_query.Token_WITH || tokens[i].Token == pg_query.Token_WITH_LA {
			return i
		}
	}
	return -1
}

// topLevel returns the index of the first token of a kind outside parentheses, or -1.
func topLevel(tokens []*pg_query.ScanToken, from int, kind pg_query.Token) int {
	depth := 0
	for i := from; i < len(tokens); i++ {
		switch tokens[i].Token {
		case openParen:
			depth++
		case closeParen:
			depth--
		case kind:
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

const (
	openParen  = pg_query.Token_ASCII_40
	closeParen = pg_query.Token_ASCII_41
	comma      = pg_query.Token_ASCII_44
)

// comment reads what is said of a view; other comments say nothing that a query needs.
func (r *reader) comment(n *pg_query.CommentStmt) {
	if n.Objtype == pg_query.ObjectType_OBJECT_VIEW {
		what := r.signature(n.Object)
		r.add(&CommentOnView{place: place(what.Pos), View: what.ObjectName, Text: n.Comment})
	}
}
