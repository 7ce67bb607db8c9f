package sqltext

import "testing"

// TestXMLTable prints XMLTABLE as an expression, and parses it again.
func TestXMLTable(t *testing.T) {
	for text, want := range map[string]string{
		"lateral xmltable(('/' || t.p) passing (t.d::xml) columns x int, n for ordinality) as u(a)": "xmltable(('/' || t.p) passing (t.d::xml) columns x int, n for ordinality)",
		"xmltable(t.p::text passing t.d columns x int not null default 1 path 'a' || 'b')":          "",
		"xmltable((p is null or true) passing (a and b) columns x int path (c and d) default (e is null) not null)": "xmltable((p is null or true) " +
			"passing (a and b) columns x int path (c and d) default (e is null) not null)",
		`xmltable(xmlnamespaces(('a' || b) as "X y", default (c is null)), 'p' passing d columns "PATH" numeric(10,2)[] path '.', "select" s.t)`: `xmltable(` +
			`xmlnamespaces(('a' || b) as "X y", default (c is null)), ('p') passing d columns "PATH" numeric(10, 2)[] path '.', "select" s.t)`,
		"xmltable('/a' passing xmlparse(document d) columns x text default (select 1))": "xmltable(('/a') passing xmlparse(document d) columns x text default (select 1))",
	} {
		q, err := ParseQuery("select from " + text)
		if want == "" {
			if err == nil {
				t.Errorf("%s is taken", text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		item := q.(*Select).From[0].(*XMLTableRef).Call()
		if item.SQL() != want {
			t.Errorf("%s: %s", text, item.SQL())
		}
		again, err := ParseQuery("select from " + item.SQL())
		if err != nil || !Equal(item, again.(*Select).From[0].(*XMLTableRef).Call()) {
			t.Errorf("%s: %s: %v", text, item.SQL(), err)
		}
	}
}
