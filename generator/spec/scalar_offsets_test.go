package spec

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/ivm/diag"
)

// scalarIn parses a map of one field and returns the value.
func scalarIn(t *testing.T, source string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(source), &document); err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	content := document.Content[0].Content
	return content[len(content)-1]
}

// The place of the letter Z of the value.
func TestScalarOffsets(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"literal":              {"q: |\n  Z 1\n", "f:2:3"},
		"deeper line":          {"q: |\n  SELECT\n    Z\n", "f:3:5"},
		"multi-byte":           {"q: |\n  'é', Z\n", "f:2:8"},
		"explicit indentation": {"q: |2\n    Z\n", "f:2:5"},
		"leading blank line":   {"a: 1\nq: |\n\n      Z\n", "f:4:7"},
		"anchor and tag":       {"q: &x !!str |-  # why\n  Z\n", "f:2:3"},
		"tag and quotes":       {"q: !!str \"a Z\"\n", "f:1:13"},
		"folded":               {"q: >\n  a\n  b\n\n  Z\n", "f:5:3"},
		"folded, deeper line":  {"q: >\n  a\n    b\n  Z\n", "f:4:3"},
		"plain":                {"q: a  Z\n", "f:1:7"},
		"plain, in a map":      {"{q: a Z}\n", "f:1:7"},
		"plain, two lines":     {"q: a\n  bc Z\n", "f:2:6"},
		"single quotes":        {"q: 'a ''Z'\n", "f:1:9"},
		"single, two lines":    {"q: 'a\n\n  Z'\n", "f:3:3"},
		"double quotes":        {"q: \"a \\\"é\\\" Z\"\n", "f:1:13"},
		"escapes":              {`q: "\x20\u00e9\t\N\U0001F600\\Z"` + "\n", "f:1:31"},
		"escaped line break":   {"q: \"a \\\n  \\ b \\tZ\"\n", "f:2:9"},
		"tab after a break":    {"q: \"a\n  \\t Z\"\n", "f:2:6"},
	} {
		t.Run(name, func(t *testing.T) {
			n := scalarIn(t, c.source)
			b := diag.NewBlock("f", c.source, n.Value, scalarOffsets(c.source, n))
			if got := b.Pos(strings.Index(n.Value, "Z")).String(); got != c.want {
				t.Errorf("%q: got %s, want %s", n.Value, got, c.want)
			}
		})
	}
}

// TestScalarOffsetsOfRandomTexts: whatever the style, each character stands at its offset, as itself or as an escape.
func TestScalarOffsetsOfRandomTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aé数'\"\\ \n\t-#:,{\u00a0\u0085\u0007😀")
	for range 20000 {
		var value []rune
		for range 1 + random.IntN(12) {
			value = append(value, alphabet[random.IntN(len(alphabet))])
		}
		style := []yaml.Style{0, yaml.LiteralStyle, yaml.FoldedStyle, yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle}[random.IntN(5)]
		text, err := yaml.Marshal(map[string]*yaml.Node{"q": {Kind: yaml.ScalarNode, Tag: "!!str", Style: style, Value: string(value)}})
		if err != nil {
			t.Fatal(err)
		}
		source := string(text)
		var document yaml.Node
		if yaml.Unmarshal(text, &document) != nil {
			continue // the library writes some texts wrongly
		}
		n := document.Content[0].Content[1]
		offsets := scalarOffsets(source, n)
		last := -1
		for i, r := range n.Value {
			if unicode.IsSpace(r) {
				continue
			}
			there, _ := utf8.DecodeRuneInString(source[offsets[i]:])
			if there != r && there != '\\' || offsets[i] <= last {
				t.Fatalf("%q in %q: %q is looked for at %d", n.Value, source, r, offsets[i])
			}
			last = offsets[i]
		}
	}
}
