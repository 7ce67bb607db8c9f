package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// DBT is what the templates of the dbt package know.
type DBT struct {
	Extension
	Project   string // the package's name
	Digest    string
	Functions []string // those of the extension that its macros call
	Script    string   // that installs the extension
	Upgrades  []DBTUpgrade
	Sources   []DBTSource
}

// DBTUpgrade leads from one released version to the next.
type DBTUpgrade struct {
	No                             int
	From, FromDigest, To, ToDigest string
	Losses                         []string
	Script                         string
	Project                        string
}

// DBTSource is a schema with relations of the extension.
type DBTSource struct {
	Name, Schema string
	Tables       []DBTTable
}

// DBTTable is a relation of the extension.
type DBTTable struct {
	Name, Description string
	Columns           []DBTColumn // none: not known
	Test              string      // that reports whether it is well; may be empty
}

// DBTColumn is a column; its type is empty where only the server knows it.
type DBTColumn struct{ Name, Type string }

// endRaw is what ends raw text, and what Jinja would make another newline of.
var endRaw = regexp.MustCompile(`\{%[-+]?\s*endraw|\r`)

// jinjaText writes text so that Jinja gives it back as it is: in raw blocks, which nothing of the text may end.
func jinjaText(text string) string {
	if !strings.Contains(text, "{%") && !strings.Contains(text, "\r") { // scripts are long, and searching them takes a while
		return "{% raw %}" + text + "{% endraw %}"
	}
	raw := endRaw.ReplaceAllStringFunc(text, func(found string) string {
		if found == "\r" {
			return `{% endraw %}{{ "\r" }}{% raw %}`
		}
		return `{% endraw %}{{ "\x7b\x25" }}{% raw %}` + strings.TrimPrefix(found, "{%")
	})
	return "{% raw %}" + raw + "{% endraw %}"
}

// jinjaLit writes text as a literal within a Jinja block. Braces and the like are escaped, as dbt looks for the ends of blocks itself.
func jinjaLit(text string) string {
	var out strings.Builder
	out.WriteByte('\'')
	for _, r := range text {
		switch {
		case r < ' ' || strings.ContainsRune(`'"\{}%#`, r):
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('\'')
	return out.String()
}

// yamlText writes text as a scalar of a YAML file whose values dbt renders with Jinja.
func yamlText(text string) (string, error) {
	if strings.Contains(text, "{{") || strings.Contains(text, "{%") || strings.Contains(text, "{#") {
		text = jinjaText(text)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(text)
	return strings.TrimSuffix(out.String(), "\n"), err
}
