package catalog

// Clock is a relation of one row, the moment as of which a stream table is refreshed, and ClockBefore has that of the refresh before. No DDL makes them.
var (
	ClockBefore = clock("clock before", nil)
	Clock       = clock("clock", ClockBefore)
)

func clock(name string, before *Relation) *Relation {
	return &Relation{
		Name: name, Kind: Table, Key: []int{}, Clock: true, Before: before,
		Columns: []Column{{Name: "moment", Type: "timestamp with time zone", NotNull: true, Equality: HashedEquality}},
	}
}

// Moments are PostgreSQL's names for the time at which a transaction began, and what the moment of a refresh is cast to for each.
var moments = map[string]string{
	"now": "", "transaction_timestamp": "", "current_timestamp": "",
	"current_date": "date", "current_time": "time with time zone", "localtime": "time without time zone", "localtimestamp": "timestamp without time zone",
}

// MomentType is what the moment of a refresh is cast to in the place of one of PostgreSQL's names for the time, empty for none; false for other names.
func MomentType(name string) (string, bool) {
	typ, ok := moments[name]
	return typ, ok
}
