package naive

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/views/oracle"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// Groups keeps aggregates over one table, in immediate mode: a row for each group, to which it adds what the rows of a statement
// make of it. Without a fault it is right.
type Groups struct {
	names
	Fault GroupsFault
}

// GroupsFault is a fault that Groups may have.
type GroupsFault string

// The faults of Groups.
const (
	NullGroups    GroupsFault = "finds groups by =, and so none with nulls"
	NothingIsZero GroupsFault = "says 0 for the sum over nothing"
	ExtremesStay  GroupsFault = "keeps min and max when their row goes"
	LastRowGoes   GroupsFault = "removes the row of an aggregate without group by"
	FilterOnlyNew GroupsFault = "filters new rows and not old ones"
	InfinityMinus GroupsFault = "subtracts infinity"
	DistinctIsSum GroupsFault = "adds up counts of distinct values"
)

// Install implements oracle.Subject.
func (g Groups) Install(ctx context.Context, conn *pgx.Conn, _ string, views []oracle.View, mode string) error {
	if mode != oracle.Immediate {
		return all(views, "only immediate mode")
	}
	refused, shapes := oracle.Unsupported{}, []*shape{}
	for _, v := range views {
		s, reason := g.shapeOf(v)
		if reason != "" {
			refused[v.Name] = reason
		}
		shapes = append(shapes, s)
	}
	if len(refused) > 0 {
		return refused
	}
	return inTransaction(ctx, conn, func() error {
		for _, s := range shapes {
			if err := g.make(ctx, conn, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// Refresh implements oracle.Subject.
func (Groups) Refresh(context.Context, *pgx.Conn, string) error { return nil }

// make makes the table of groups, the view that shows it, and the triggers.
func (g Groups) make(ctx context.Context, conn *pgx.Conn, s *shape) error {
	name, state := s.view.Name, s.state()
	err := run(ctx, conn, "create view oracle_as_"+name+" as "+s.view.Query+"; create table "+state+" as "+s.contribution(s.table, "1", true))
	if err != nil {
		return err
	}
	names, types, err := columnsOf(ctx, conn, "oracle_as_"+name)
	if err != nil {
		return err
	}
	return run(ctx, conn, g.view(s, names, types)+g.triggers(s))
}

// view shows the groups as the query does.
func (g Groups) view(s *shape, names, types []string) string {
	var list []string
	for i, out := range s.outputs() {
		list = append(list, fmt.Sprintf("(%s)::%s as %s", s.shown(g, bare(out)), types[i], names[i]))
	}
	having := ""
	if part := s.view.Tree.Query.Kids[cases.HavingPart]; len(part.Kids) > 0 {
		having = "where " + strings.TrimPrefix(s.shown(g, part), "\nhaving ")
	}
	return "create view " + s.view.Name + " as select " + strings.Join(list, ", ") + " from " + s.state() + " " + having + ";\n"
}

// shown is the value of an aggregate.
func (g Groups) shown(a *aggregate) string {
	switch {
	case a.call == "sum" && g.Fault == NothingIsZero:
		return a.name
	case a.call == "sum":
		return "case when " + a.name + "_count > 0 then " + a.name + " end"
	case a.call == "avg":
		return "case when " + a.name + "_count > 0 then " + a.name + " / " + a.name + "_count end"
	}
	return a.name
}

func (g Groups) triggers(s *shape) string {
	plus, minus := s.contribution("oracle_new", "1", true), s.contribution("oracle_old", "-1", g.Fault != FilterOnlyNew)
	name, again := "oracle_"+s.view.Name, s.contribution(s.table, "1", true)
	return trigger(name+"_insert", s.table, "insert", "referencing new table as oracle_new", columnsFirst, g.apply(s, plus)) +
		trigger(name+"_update", s.table, "update", "referencing old table as oracle_old new table as oracle_new", columnsFirst, g.apply(s, plus+"\nunion all\n"+minus)) +
		trigger(name+"_delete", s.table, "delete", "referencing old table as oracle_old", columnsFirst, g.apply(s, minus)) +
		trigger(name+"_truncate", s.table, "truncate", "", columnsFirst, "delete from "+s.state()+";\ninsert into "+s.state()+" "+again+";\n")
}

// apply adds signed contributions to the groups.
func (g Groups) apply(s *shape, contributions string) string {
	is := alike
	if g.Fault == NullGroups {
		is = equal
	}
	keys, state, sets := s.keyNames(), s.state(), []string{"oracle_n = x.oracle_n + d.oracle_n"}
	for _, a := range s.aggregates {
		sets = append(sets, a.sets()...)
	}
	delta := s.total(contributions)
	text := fmt.Sprintf("update %s x set %s\nfrom (%s) d where %s;\n", state, strings.Join(sets, ", "), delta, same("x", "d", keys, is))
	if len(keys) > 0 || g.Fault == LastRowGoes {
		text += fmt.Sprintf("insert into %[1]s select * from (%[2]s) d where d.oracle_n <> 0 and not exists (select from %[1]s x where %[3]s);\n",
			state, delta, same("x", "d", keys, is))
		text += "delete from " + state + " where oracle_n = 0;\n"
	}
	if g.Fault != ExtremesStay {
		text += s.extremes()
	}
	return text
}

// sets are assignments for an aggregate.
func (a *aggregate) sets() []string {
	switch a.call {
	case "min":
		return []string{fmt.Sprintf("%[1]s = least(x.%[1]s, d.%[1]s)", a.name)}
	case "max":
		return []string{fmt.Sprintf("%[1]s = greatest(x.%[1]s, d.%[1]s)", a.name)}
	case "count":
		return []string{fmt.Sprintf("%[1]s = x.%[1]s + d.%[1]s", a.name)}
	}
	return []string{fmt.Sprintf("%[1]s = x.%[1]s + d.%[1]s", a.name), fmt.Sprintf("%[1]s_count = x.%[1]s_count + d.%[1]s_count", a.name)}
}

// total adds contributions up by their groups.
func (s *shape) total(contributions string) string {
	list := append(s.keyNames(), "sum(oracle_n)::bigint as oracle_n")
	for _, a := range s.aggregates {
		switch a.call {
		case "count":
			list = append(list, "sum("+a.name+")::bigint as "+a.name)
		case "min", "max":
			list = append(list, a.call+"("+a.name+") as "+a.name)
		default:
			list = append(list, "sum("+a.name+") as "+a.name, "sum("+a.name+"_count)::bigint as "+a.name+"_count")
		}
	}
	text := "select " + strings.Join(list, ", ") + " from (\n" + contributions + "\n) c"
	if len(s.keys) > 0 {
		text += " group by " + strings.Join(s.keyNames(), ", ")
	}
	return text
}

// extremes looks for min and max again.
func (s *shape) extremes() string {
	sets := []string{}
	for _, a := range s.aggregates {
		if a.call == "min" || a.call == "max" {
			sets = append(sets, a.name+" = d."+a.name)
		}
	}
	if len(sets) == 0 {
		return ""
	}
	return fmt.Sprintf("update %s x set %s from (%s) d where %s;\n", s.state(), strings.Join(sets, ", "),
		s.contribution(s.table, "1", true), same("x", "d", s.keyNames(), alike))
}
