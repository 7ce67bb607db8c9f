package drift

import (
	"context"
	_ "embed"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed sql/facts.sql
var factsSQL string

// fact is one thing that the server says of an object, in its own words.
type fact struct {
	Rank                  int
	Object, Aspect, Value string
	Does, Undoes          string // statements; empty where there is none
}

// existence is the aspect of a relation that says that it is there.
const existence = ""

// key finds the same fact elsewhere.
type key struct{ Object, Aspect string }

func (f fact) key() key { return key{f.Object, f.Aspect} }

// subjects are what facts are asked about, as SQL.
type subjects struct {
	relations, functions, schemas []string
	roles                         []string // names
}

func readFacts(ctx context.Context, tx pgx.Tx, s subjects) ([]fact, error) {
	rows, err := tx.Query(ctx, factsSQL, s.relations, s.functions, s.schemas, s.roles)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[fact])
}

func byKey(facts []fact) map[key]fact {
	all := map[key]fact{}
	for _, f := range facts {
		all[f.key()] = f
	}
	return all
}

// at gives facts of shadows the names of what they are shadows of.
func (f fact) at(names *strings.Replacer) fact {
	f.Object, f.Aspect, f.Value = names.Replace(f.Object), names.Replace(f.Aspect), names.Replace(f.Value)
	f.Does, f.Undoes = names.Replace(f.Does), names.Replace(f.Undoes)
	return f
}
