package upgrade

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// KeepOrder puts the columns of tables into the order in which the released versions, oldest first, brought them: an upgrade can only add
// columns at the end, and a fresh install is to be like an upgraded one.
func KeepOrder(released []Manifest, objects []Object) {
	if len(released) == 0 {
		return
	}
	orders := map[string][]string{}
	for _, m := range released {
		there := map[string][]string{}
		for _, o := range m.Objects {
			if o.Kind == "table" {
				there[o.identity()] = grown(orders[o.identity()], columnNames(o))
			}
		}
		orders = there // what a version lacks is recreated by a later one
	}
	for n := range objects {
		o := &objects[n]
		if order := orders[o.identity()]; o.Kind == "table" && order != nil {
			o.SQL = sqltext.OrderColumns(o.SQL, order)
			if o.OriginSQL != "" {
				o.OriginSQL = sqltext.OrderColumns(o.OriginSQL, order)
			}
		}
	}
}

// grown is an order of columns after an upgrade: those that stay, and then the new ones.
func grown(order, now []string) []string {
	var after []string
	for _, name := range order {
		if slices.Contains(now, name) {
			after = append(after, name)
		}
	}
	for _, name := range now {
		if !slices.Contains(after, name) {
			after = append(after, name)
		}
	}
	return after
}

func columnNames(table Object) []string {
	definition, err := sqltext.DefineTable(table.SQL)
	if err != nil {
		return nil // Derive reports it
	}
	var names []string
	for _, column := range definition.Columns {
		names = append(names, column.Name)
	}
	return names
}
