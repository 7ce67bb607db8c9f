package explain

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
)

// TestPictures draws every view of the compiler's tests, every stage of it: nothing overlaps, each operator of a query has a rule, pictures are XML, and every run gives
// the same bytes.
func TestPictures(t *testing.T) {
	drawn := 0
	eachView(t, func(t *testing.T, compile func() Table) {
		view := compile()
		for _, stage := range []string{StageResolve, StageDelta, StageSimplify} {
			p := view.picture(stage)
			if p == nil {
				continue
			}
			drawn++
			if p.Overlap() {
				t.Errorf("boxes overlap in %s of %s", stage, view.Query.Text)
			}
			for _, b := range p.Boxes {
				if stage == StageResolve && len(b.Notes) == 0 {
					t.Errorf("%s has no rule", b.Kind)
				}
			}
			checkXML(t, view.svg(stage))
		}
		checkSame(t, compile, FormatSVG)
		checkSame(t, compile, FormatHTML)
	})
	if drawn == 0 {
		t.Fatal("no view was found")
	}
	t.Logf("%d pictures", drawn)
}

// checkSame explains a view ten times, compiled anew as its columns get new numbers whenever it is differentiated.
func checkSame(t *testing.T, compile func() Table, format string) {
	t.Helper()
	var first string
	for i := range 10 {
		text, err := Explain(compile(), "", format)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && text != first {
			t.Fatalf("%s of %s comes in two ways", format, compile().Query.Text)
		}
		first = text
	}
}

func checkXML(t *testing.T, text string) {
	t.Helper()
	for decoder := xml.NewDecoder(strings.NewReader(text)); ; {
		_, err := decoder.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
}

// eachView compiles the views of the compiler's tests.
func eachView(t *testing.T, do func(t *testing.T, compile func() Table)) {
	paths, err := filepath.Glob("../../ivm/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var known *catalog.Catalog
		datadriven.RunTestFromString(t, string(text), func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "schema" {
				known = catalog.New()
				known.AddDDL(diag.WholeFile("schema.sql", d.Input))
				return d.Expected
			}
			block := diag.WholeFile("query.sql", d.Input)
			compile := func() Table {
				return Table{Name: "v", Query: block, View: ivm.Compile(d.Input, block.Pos, known, &diag.List{})}
			}
			if compile().View != nil {
				do(t, compile)
			}
			return d.Expected
		})
	}
}

// TestCosts runs testdata: what a changed row of each source costs.
func TestCosts(t *testing.T) {
	var known *catalog.Catalog
	datadriven.RunTest(t, "testdata/costs", func(t *testing.T, d *datadriven.TestData) string {
		errs := &diag.List{}
		if d.Cmd == "schema" {
			known = catalog.New()
			return known.AddDDL(diag.WholeFile("schema.sql", d.Input)).String()
		}
		view := ivm.Compile(d.Input, diag.WholeFile("query.sql", d.Input).Pos, known, errs)
		if view == nil {
			return errs.String()
		}
		return strings.TrimLeft(Table{View: view}.costText(), "\n")
	})
}
