// Package configuration makes the tables of docs/configuration.md of what the command itself says of its formats: go test ./tests/command/configuration -update.
package configuration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

const page = "../../../docs/configuration.md"

// schema is a JSON Schema, as far as the formats need it. Properties keep their order.
type schema struct {
	Properties  properties `json:"properties"`
	Items       *schema    `json:"items"`
	OneOf       []*schema  `json:"oneOf"`
	Type        string     `json:"type"`
	Enum        []any      `json:"enum"`
	Default     any        `json:"default"`
	Minimum     any        `json:"minimum"`
	Maximum     any        `json:"maximum"`
	MaxLength   int        `json:"maxLength"`
	Required    []string   `json:"required"`
	Description string     `json:"description"`
	Pattern     string     `json:"pattern"`
}

type property struct {
	name string
	of   *schema
}

type properties []property

// UnmarshalJSON implements json.Unmarshaler.
func (p *properties) UnmarshalJSON(text []byte) error {
	in := json.NewDecoder(bytes.NewReader(text))
	if _, err := in.Token(); err != nil {
		return err
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		of := &schema{}
		if err := in.Decode(of); err != nil {
			return err
		}
		*p = append(*p, property{name.(string), of})
	}
	return nil
}

// TestConfiguration compares the page's tables with the formats.
func TestConfiguration(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	got := want
	for _, format := range []string{"spec", "relay"} {
		got = replaced(t, got, format, tables(read(t, format)))
	}
	if golden.Update() {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden.CompareText(t, page, got, want)
}

func read(t *testing.T, format string) *schema {
	t.Helper()
	var out, said bytes.Buffer
	if status := commandtest.Main([]string{"schema", format}, strings.NewReader(""), &out, &said); status != 0 {
		t.Fatal(said.String())
	}
	s := &schema{}
	if err := json.Unmarshal(out.Bytes(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// replaced is the page with other tables of a format, which stand between two comments.
func replaced(t *testing.T, text, format, tables string) string {
	t.Helper()
	before, rest, begins := strings.Cut(text, "<!-- "+format+" -->\n")
	_, after, ends := strings.Cut(rest, "<!-- end of "+format+" -->")
	if !begins || !ends {
		t.Fatalf("the page has no place for %s", format)
	}
	return before + "<!-- " + format + " -->\n\n" + tables + "<!-- end of " + format + " -->" + after
}

// tables are those of an object and of the objects in it.
func tables(s *schema) string {
	var b strings.Builder
	table(&b, "", s)
	return b.String()
}

func table(b *strings.Builder, path string, s *schema) {
	if path != "" {
		fmt.Fprintf(b, "### `%s`\n\n", path)
	}
	b.WriteString("| field | values | default | effect |\n|---|---|---|---|\n")
	for _, p := range s.Properties {
		about, otherwise := p.of.Description, defaultOf(p.of)
		for _, o := range p.of.OneOf {
			about = cmp.Or(about, o.Description)
		}
		if text, given, ok := strings.Cut(about, " Default: "); ok && otherwise == "" {
			about, otherwise = text, "`"+strings.TrimSuffix(given, ".")+"`"
		}
		if slices.Contains(s.Required, p.name) {
			otherwise = "required"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.name, values(p.of), otherwise, strings.ReplaceAll(about, "|", `\|`))
	}
	b.WriteString("\n")
	for _, p := range s.Properties {
		for _, inner := range objects(p.of) {
			table(b, strings.TrimPrefix(path+"."+p.name, "."), inner)
		}
	}
}

// objects are those with fields of their own that a value has.
func objects(s *schema) (all []*schema) {
	if len(s.Properties) > 0 {
		return []*schema{s}
	}
	if s.Items != nil {
		all = append(all, objects(s.Items)...)
	}
	for _, o := range s.OneOf {
		all = append(all, objects(o)...)
	}
	return all
}

func defaultOf(s *schema) string {
	if s.Default == nil {
		return ""
	}
	text, _ := json.Marshal(s.Default)
	return "`" + strings.Trim(string(text), `"`) + "`"
}

// values says what a field may hold.
func values(s *schema) string {
	switch {
	case len(s.Enum) > 0:
		var all []string
		for _, v := range s.Enum {
			all = append(all, fmt.Sprintf("`%v`", v))
		}
		return strings.Join(all, ", ")
	case len(s.OneOf) > 0:
		var all []string
		for _, o := range s.OneOf {
			if text := values(o); !slices.Contains(all, text) && o.Type != "null" {
				all = append(all, text)
			}
		}
		return strings.Join(all, " or ")
	case len(s.Properties) > 0:
		return "object, below"
	case s.Items != nil:
		return "list of " + plural(values(s.Items))
	case s.Minimum != nil || s.Maximum != nil:
		return strings.TrimSpace(fmt.Sprintf("%s %s", "number", between(s)))
	case s.Pattern != "" && strings.Contains(s.Pattern, "ms|s|m|h|d"):
		return "duration"
	case s.Type == "boolean":
		return "`true`, `false`"
	case s.Type == "object":
		return "map"
	case s.MaxLength > 0:
		return fmt.Sprintf("name, %d bytes at most", s.MaxLength)
	}
	return "text"
}

// plural is the plural of what values says of one.
func plural(one string) string {
	switch {
	case strings.HasPrefix(one, "`"):
		return one
	case strings.HasPrefix(one, "list of "):
		return "lists" + strings.TrimPrefix(one, "list")
	}
	word, rest, _ := strings.Cut(one, ",")
	if rest != "" {
		rest = "," + rest
	}
	return word + "s" + rest
}

func between(s *schema) string {
	switch {
	case s.Minimum == nil:
		return fmt.Sprintf("up to %v", number(s.Maximum))
	case s.Maximum == nil:
		return fmt.Sprintf("from %v", number(s.Minimum))
	}
	return fmt.Sprintf("%v to %v", number(s.Minimum), number(s.Maximum))
}

func number(n any) string {
	if f, ok := n.(float64); ok {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprint(n)
}
