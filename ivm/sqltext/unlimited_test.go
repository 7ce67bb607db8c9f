package sqltext_test

import (
	"testing"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

func TestUnlimited(t *testing.T) {
	for query, want := range map[string]string{
		"select a from t order by a limit 5":                                                    "select a from t order by a",
		"select a from t offset 2 rows fetch first 3 rows only":                                 "select a from t",
		"(select a from (select a from u limit 1) t limit 5)":                                   "(select a from (select a from u limit 1) t)",
		"((select a from t limit 5)) order by a":                                                "((select a from t)) order by a",
		"(select a from t limit 1) union (select a from u limit 2) order by 1 limit all":        "(select a from t limit 1) union (select a from u limit 2) order by 1",
		"select \"limit\", 'limit 3' -- limit 2\nfrom t /* offset */ limit (select 5) offset 1": "select \"limit\", 'limit 3' -- limit 2\nfrom t /* offset */",
		"with q as (select a from t limit 1) select a from q, u limit 2":                        "with q as (select a from t limit 1) select a from q, u",
	} {
		if got := sqltext.Unlimited(query); got != want {
			t.Errorf("%s\nbecomes\n%s\nand not\n%s", query, got, want)
		}
	}
}
