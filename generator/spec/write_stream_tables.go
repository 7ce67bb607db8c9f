package spec

import (
	"fmt"
	"strings"
)

// CreatedStreamTable is a stream table that functions made, for a part of a spec.
type CreatedStreamTable struct {
	Relation                     Name
	Query, RefreshMode, Schedule string
}

// StreamTablesText is a part of a spec without its version: stream tables, with their queries in literal blocks, as a spec must have them; empty if there are none.
func StreamTablesText(tables []CreatedStreamTable) (string, error) {
	if len(tables) == 0 {
		return "", nil
	}
	var out strings.Builder
	out.WriteString("stream_tables:\n")
	for _, t := range tables {
		name, err := yamlScalar(t.Relation.Text())
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "  - name: %s\n", name)
		if t.Schedule != "1s" { // the default
			fmt.Fprintf(&out, "    schedule: %s\n", t.Schedule)
		}
		if t.RefreshMode != RefreshAuto {
			fmt.Fprintf(&out, "    refresh_mode: %s\n", t.RefreshMode)
		}
		query := strings.ReplaceAll(t.Query, "\r\n", "\n")
		indent := ""
		if query[0] == ' ' || query[0] == '\n' { // whose indentation would not show that of the block
			indent = "2"
		}
		fmt.Fprintf(&out, "    query: |%s\n", indent)
		for _, line := range strings.Split(query, "\n") {
			if line != "" {
				line = "      " + line
			}
			out.WriteString(line + "\n")
		}
	}
	return out.String(), nil
}
