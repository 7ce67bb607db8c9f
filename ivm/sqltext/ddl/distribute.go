package ddl

import (
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Distribute is a call by which Citus distributes a table, or copies it to all nodes.
type Distribute struct {
	place
	Table     ObjectName
	Column    string     // empty for a reference table
	With      ObjectName // the table that it is colocated with, if the call names one
	Alone     bool       // it is colocated with none
	Shards    string     // how many, if the call says so
	Reference bool
}

// distribute reads a call whose arguments are constants.
func (r *reader) distribute(call *pg_query.FuncCall, reference bool) {
	d := &Distribute{place: r.at(int(call.Location)), Reference: reference}
	parameters := []string{"table_name", "distribution_column", "distribution_type", "colocate_with", "shard_count"}
	for n, arg := range call.Args {
		name := ""
		if named := arg.GetNamedArgExpr(); named != nil {
			name, arg = named.Name, named.Arg
		} else if n < len(parameters) {
			name = parameters[n]
		}
		if cast := arg.GetTypeCast(); cast != nil { // 'orders'::regclass
			arg = cast.Arg
		}
		switch value := constant(arg); {
		case name == "table_name":
			d.Table = r.constantName(value)
		case reference:
		case name == "distribution_column":
			d.Column = value // as it is: Citus folds no case here
		case name == "colocate_with" && value == "none":
			d.Alone = true
		case name == "colocate_with" && value != "default":
			d.With = r.constantName(value)
		case name == "shard_count":
			d.Shards = fmt.Sprint(arg.GetAConst().GetIval().GetIval())
		}
	}
	if d.Table.Name != "" && (reference || d.Column != "") {
		r.add(d)
	}
}

// constantName is the table that a constant names, as regclass reads it; empty if it names none.
func (r *reader) constantName(value string) ObjectName {
	var names []string
	for _, t := range sqltext.Scan(value) {
		if name := identifier(value, t); name != "" {
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	name := ObjectName{Pos: r.pos(0)}
	switch len(names) {
	case 1:
		name.Name = names[0]
	case 2:
		name.Name, name.Schema = names[0], names[1]
	}
	return name
}
