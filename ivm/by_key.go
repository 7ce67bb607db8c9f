package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
)

// put are the rows that come with those of the table.
func (v *view) put(e Event) apply.Statement {
	if e == Delete {
		return apply.Statement{}
	}
	return apply.MoveRows(v.storage, v.simplified(v.delta()), e == Update)
}

// keyed are the columns of the one table that changes that the identity of stored rows is made of, if they hold its key, so that each of its rows makes
// one row of the view at most, which no other row makes; nil if they do not.
func (v *view) keyed() []string {
	for _, s := range v.sources() {
		if names, ok := v.identityIn(s); ok && s.Table == v.only && v.props.Of(s).Key(v.identity()) != nil {
			return names
		}
	}
	return nil
}

// identity are the columns that the identity of stored rows is made of.
func (v *view) identity() []algebra.ColID {
	var ids []algebra.ColID
	for _, k := range v.storage.Identity {
		ids = append(ids, k.Column)
	}
	return ids
}

// identityIn are the columns of an occurrence of a table that the identity of stored rows consists of, if all are of this one.
func (v *view) identityIn(source *algebra.Source) (names []string, all bool) {
	for _, id := range v.identity() {
		for _, c := range source.Cols {
			if c.ID == id {
				names = append(names, source.Table.Columns[c.Attr].Name)
			}
		}
	}
	return names, len(names) == len(v.storage.Identity)
}
