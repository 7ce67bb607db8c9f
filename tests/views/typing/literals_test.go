package typing

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// constants are texts of types that Sluice checks as the server does, one a line. Those that some versions take and others do not are not among them.
var constants = map[string]string{
	"interval": `1 dya
many days
1 day
1 days 2 hours
2 hours 1 2 minutes
1 2 hours
P1Y2M3DT4H5M6S
P1Y2M10DT2H30M
PT5.5H
P1W
PT
P1
P-1Y
P0001-02-03T04:05:06
P20240102T030405
P1X
P
 P1D
T1H
1-2
-1-2
+1-2 3 4:05:06
1-12
1-2 ago
1 12:59:10
1 12:61:10
12:34:56.789
12:34.5
1:2:3:4
1:
@ 1 day ago
@ 1 year 2 mons -3 days 4 hours 5 mins 6.7 secs ago
1 ago
ago
days
1.5 months
1.5.6 months
.5 day
-.5 day
- 1 day
1 day1
1d2h3m4s
1d 2 h
1 quarter
3 mil 2 c 1 dec
1 microseconds 1 microsecondsss
1 millisecond
1 ms 1 sec
1 sec 1 sec
1 day 1 day
1 day -1:30
1 hour 2:30
1 month 2-3
1/2 day
1 day, 2 hours
(1 day)
1 día
1e3 days

6 years 5 months 4 days 3 hours 2 minutes 1 second
1 timezone
tomorrow
yesterday
allballs
now
1 day infinite`,
	"text[]": `[1,2]
["a","b"]
{a,b}
{"a","b"}
{}
{ }
{a,}
{,a}
{a
a
{a}b
{a} 
 {a}
{"a}
{"a"b}
{a"b"}
{a\"b}
{"a\"b","c\\"}
{a b , c }
{null,NULL,"null"}
{{a,b},{c,d}}
{{a,b},{c}}
{{a},b}
{a,{b}}
{{a},{b},"c"}
[1:2]={a,b}
[0:1]={a,b}
[1:2]={a,b,c}
[2]={a,b}
[-1:0] = {a,b}
[1:1][1:2]={{a,b}}
[1:2]{a,b}
[1:x]={a}
[1:2][1:2]={a,b}
{{{{{{a}}}}}}
{{{{{{{a}}}}}}}
a,b

{"a":1}
{'a'}
{a;b}
{"",a}
{\a,b\ }
{(1,2),x}`,
	"integer[]": `{1,2}
{1,x}
{"1","2"}
{"1","x"}
{ 1 , 2 }
{null,1}
{"null"}
{{1,2},{3,x}}
[1:2]={1,y}
{1.5}
{99999999999}`,
	"numeric[]":  "{1.5,NaN}\n{1,5e3}\n{1,,2}\n{a}",
	"interval[]": "{1 day,\"2 hours\"}\n{1 dya}\n{1-2,P1Y}",
	"boolean[]":  "{t,f,yes,0}\n{maybe}",
	"uuid[]":     "{00000000-0000-0000-0000-000000000000}\n{0}",
	"date[]":     "{2024-01-02,today}\n{2024-02-30}\n{soon}",
	"jsonb[]":    "{\"{\\\"a\\\": 1}\",1}\n{{a}}\n{\"{a}\"}",
	"mood[]":     "{sad,\"ok\"}\n{glad}",
	"int4range": `[1,2)
[a,b]
(,)
 empty 
[1,2,3)
["1","2"]
[ 1 , 2 ]
[1,]
[1 2]
{1,2}
1,2`,
	"daterange": "[2024-01-01,2024-02-30)\n[today,)\n[soon,)",
	"tsrange":   "[2024-01-01 10:00, infinity]\n[yesterdy,)",
	"box[]":     "{(1,2),(3,4);(5,6),(7,8)}",
}

// TestConstants: each text is refused where the server refuses it, and nowhere else.
func TestConstants(t *testing.T) {
	known, conn := withSchema(t)
	for typ, texts := range constants {
		for text := range strings.SplitSeq(texts, "\n") {
			refused := refusal(t, conn, text, typ)
			_, problems, _ := ofSluice(known, "select "+quoted(text)+"::"+typ)
			if (refused != nil) != (problems != "") {
				t.Errorf("%s %q: the server says %v, Sluice %q", typ, text, refused, problems)
			}
		}
	}
}

// parts are what random constants are made of.
var parts = map[string][]string{
	"interval": strings.Fields("1 2 0 12 59 61 -3 +4 .5 1.5 1-2 1-13 1:2 10:11:12.5 1:2: day days h hours m mon y year sec ms us week c dec mil ago @ dya P T Y M D H S : - . , / e3 infinity"),
	"text[]":   strings.Split(`{ } , ; " \ a b null [1:2] [0:0] = {} {a,b} {{a},{b}} "a" "" [2] ( )`, " "),
}

// TestRandomConstants: Sluice refuses nothing that the server takes, and little that the server refuses is missed.
func TestRandomConstants(t *testing.T) {
	seed, cases := number("SLUICE_TEST_SEED", 1), number("SLUICE_TEST_CASES", pgtest.ShortOrLong(2000, 20000))
	known, conn := withSchema(t)
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	for typ, of := range parts {
		taken, both, missed := 0, 0, 0
		for range cases {
			var text strings.Builder
			for range 1 + random.IntN(7) {
				text.WriteString(of[random.IntN(len(of))])
				if random.IntN(2) == 0 {
					text.WriteByte(' ')
				}
			}
			refused := refusal(t, conn, text.String(), typ)
			switch _, problems, _ := ofSluice(known, "select "+quoted(text.String())+"::"+typ); {
			case refused == nil && problems != "":
				t.Errorf("seed %d, %s: the server takes %q: %s", seed, typ, text.String(), problems)
			case refused == nil:
				taken++
			case problems == "":
				if missed++; testing.Verbose() {
					t.Logf("%s: missed %q: %s", typ, text.String(), refused.Message)
				}
			default:
				both++
			}
		}
		t.Logf("seed %d, %s: %d taken, %d refused, %d missed", seed, typ, taken, both, missed)
		if missed*5 > both { // versions differ, and what one of them takes is not refused
			t.Errorf("%s: %d errors of the server are missed, more than one of five", typ, missed)
		}
	}
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// withSchema is what Sluice knows of the schema of these tests, and a connection to a database that has it.
func withSchema(t *testing.T) (*catalog.Catalog, *pgx.Conn) {
	t.Helper()
	conn := pgtest.DB(t).Connect(t)
	if _, err := conn.Exec(context.Background(), schema); err != nil {
		t.Fatal(err)
	}
	known := catalog.New()
	if errs := known.AddDDL(diag.WholeFile("schema.sql", schema)); !errs.Empty() {
		t.Fatal(errs)
	}
	return known, conn
}

// refusal is the error that the server has about a text of a type.
func refusal(t *testing.T, conn *pgx.Conn, text, typ string) (refused *pgconn.PgError) {
	t.Helper()
	_, err := conn.Exec(context.Background(), "select "+quoted(text)+"::"+typ)
	if err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
	return refused
}
