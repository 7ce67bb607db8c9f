package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Script is the statements of inboxes that functions create, for format(), as expressions by the name of a part.
type Script struct {
	Extension
	Parts []ScriptPart

	names *regexp.Regexp
	args  []string
}

// ScriptPart is what a call of the script executes.
type ScriptPart struct{ Name, Expression string }

// NewScript begins a script.
func NewScript(e Extension) *Script {
	qualified, _, _ := strings.Cut(inFormat(sqltext.Literal(e.InInternal(AnyInbox).String())), AnyInbox)
	return &Script{Extension: e, names: regexp.MustCompile(regexp.QuoteMeta(qualified) + anyNames)}
}

// anyNames finds the words that stand for names, with what is made of them, and how they are quoted. The rest of a literal that names a relation of
// the internal schema comes first, text that is put in last.
const anyNames = `(\w*~inbox~\w*)"'|"(\w*~[a-z_]+~\w*)"|'(\w*~[a-z_]+~\w*)'|(\w*~[a-z_]+~\w*)|"~=([^"]+)~"|/\*~=((?s:.+?))~\*/|10000000(?:07|09|21)`

// continued is where a literal that is too long for a line goes on in the next.
var continued = regexp.MustCompile(`'\n\s*'`)

// Format puts the arguments of format() in the places of names. It takes each as it is quoted: %I and %L quote whatever a name holds.
func (s *Script) Format(sql string) string {
	return s.names.ReplaceAllStringFunc(inFormat(continued.ReplaceAllString(sql, "")), func(found string) string {
		m := s.names.FindStringSubmatch(found)
		switch relation, identifier, literal, text, put := m[1], m[2], m[3], m[4], m[5]+m[6]; {
		case relation != "":
			return s.arg(fmt.Sprintf("format('%%I.%%I', %s, %s)", sqltext.Literal(s.InternalName), s.value(relation)), "L")
		case identifier != "":
			return s.arg(s.value(identifier), "I")
		case literal != "":
			return s.arg(s.value(literal), "L")
		case text != "": // within a literal, or in a comment
			return s.arg(fmt.Sprintf("replace(%s, '''', '''''')", s.value(text)), "s")
		case put != "":
			return s.arg(s.put(put), "s")
		default:
			return s.arg(map[string]string{
				fmt.Sprint(AnyRetries): "v_inbox.max_retries::text", fmt.Sprint(AnyLowest): "p_item ->> 'min'", fmt.Sprint(AnyHighest): "p_item ->> 'max'",
			}[found], "s")
		}
	})
}

// value is a name as an expression.
func (s *Script) value(name string) string {
	before, after, found := strings.Cut(name, AnyInbox)
	word := strings.Trim(name, "~")
	event, isTrigger := strings.CutSuffix(word, "_trigger")
	switch {
	case name == AnyInbox:
		return "p_inbox"
	case found && before == "":
		return fmt.Sprintf("%s.pgt_derived_name(p_inbox || %s)", s.Internal(), sqltext.Literal(after))
	case found:
		return fmt.Sprintf("%s.pgt_derived_name(%s || p_inbox || %s)", s.Internal(), sqltext.Literal(before), sqltext.Literal(after))
	case name == AnySchema:
		return fmt.Sprintf("case when v_inbox.is_managed then v_inbox.inbox_schema else %s end::text", sqltext.Literal(s.SchemaName))
	case word == "pending_schema":
		return fmt.Sprintf("case when v_inbox.is_managed then v_inbox.inbox_schema else %s end::text", sqltext.Literal(s.InternalName))
	case word == "at" || word == "table":
		return map[string]string{"at": "v_inbox.inbox_schema::text", "table": "v_inbox.inbox_table::text"}[word]
	case word == "order_index":
		return "v_inbox.table_indexes[1]::text"
	case word == "id_index":
		return "v_inbox.table_indexes[2]::text"
	case isTrigger:
		return fmt.Sprintf("%s.pgt_derived_name(%s || v_at)", s.Internal(), sqltext.Literal(s.Extension.Extension+"_"+event+"_"))
	case word == "aggregate_column" || word == "sequence_column":
		return "v_order." + word + "::text"
	case word == "priority_column":
		return "v_priority.priority_column::text"
	case word == "row_priority_value":
		return "v_value"
	case word == "tier" || word == "tier_view" || word == "level_cursor":
		return fmt.Sprintf("p_item ->> %s", sqltext.Literal(word))
	case word == "backlog":
		return "v_order.backlog::text"
	case word == "backlog_due":
		return fmt.Sprintf("%s.pgt_derived_name(p_inbox || case v_mode when 'contiguous' then '_backlog_due' else '_backlog_by_time_due' end)", s.Internal())
	case word == "row_order_key":
		return "case when v_inbox.is_managed then v_order.aggregate_column else 'order_key' end::text"
	case word == "row_sequence":
		return "case when v_inbox.is_managed then v_order.sequence_column else 'sequence' end::text"
	default:
		return "v_inbox." + word + "::text"
	}
}

// put is a text to put in as an expression: a list, a column of a row, or what the words are.
func (s *Script) put(what string) string {
	row, column, isColumn := strings.Cut(what, ".")
	switch {
	case strings.HasPrefix(what, "level "):
		switch row := strings.TrimPrefix(what, "level "); row {
		case "old", "new":
			return fmt.Sprintf("%[1]s.pgt_level_of(p_inbox, %[1]s.pgt_own_column(v_columns, %[2]s, 'priority_value'))", s.Internal(), sqltext.Literal(row))
		default:
			return fmt.Sprintf("%s.pgt_level_of(p_inbox, %s || quote_ident(v_value))", s.Internal(), sqltext.Literal(row+"."))
		}
	case strings.HasPrefix(what, "given "):
		return fmt.Sprintf("%s.pgt_given_id(v_columns, %s)", s.Internal(), sqltext.Literal(strings.TrimPrefix(what, "given ")))
	case strings.HasPrefix(what, "list "):
		return fmt.Sprintf("%s.pgt_own_list(v_columns, %s)", s.Internal(), sqltext.Literal(strings.TrimPrefix(what, "list ")))
	case isColumn && !strings.Contains(what, " ") && row != "v_inbox":
		return fmt.Sprintf("%s.pgt_own_column(v_columns, %s, %s)", s.Internal(), sqltext.Literal(row), sqltext.Literal(column))
	}
	return what
}

// arg is the place of an argument.
func (s *Script) arg(value, kind string) string {
	n := slices.Index(s.args, value)
	if n < 0 {
		n = len(s.args)
		s.args = append(s.args, value)
	}
	return fmt.Sprintf("%%%d$%s", n+1, kind)
}

// Args lists the arguments of format().
func (s Script) Args() string { return strings.Join(s.args, ",\n        ") }
