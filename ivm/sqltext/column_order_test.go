package sqltext

import "testing"

func TestOrderColumns(t *testing.T) {
	const table = `-- A table (of ours).
create table s.t (
    a integer not null, -- the first, of (two)
    b numeric(10, 2) default round(1.5, 1),
    -- on a line of its own
    c text check (c <> ')'), -- the third
    primary key (a, b) -- its key
) with (fillfactor = 50);
`
	const ordered = `-- A table (of ours).
create table s.t (
    -- on a line of its own
    c text check (c <> ')'), -- the third
    a integer not null, -- the first, of (two)
    b numeric(10, 2) default round(1.5, 1),
    primary key (a, b) -- its key
) with (fillfactor = 50);
`
	for _, c := range []struct {
		order []string
		want  string
	}{
		{[]string{"a", "b", "c"}, table},
		{[]string{"a", "gone"}, table},
		{nil, table},
		{[]string{"c", "gone", "a"}, ordered},
	} {
		if got := OrderColumns(table, c.order); got != c.want {
			t.Errorf("%v: got\n%s", c.order, got)
		}
	}
}
