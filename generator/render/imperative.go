package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Inboxes that functions create at run time have the statements of an inbox of the spec. They are rendered for an inbox whose names and number of failures
// are words; a function puts those of a real one in their places.
const (
	AnyInbox   = "~inbox~"
	AnySchema  = "~schema~" // of what is made from the name
	AnyRetries = 1_000_000_007
	AnyLowest  = 1_000_000_009 // priority of a tier
	AnyHighest = 1_000_000_021
)

// OrdersInboxes reports whether an inbox hands out its messages in sequence, or may come to.
func (e Extension) OrdersInboxes() bool { return e.FromSQL != nil || len(e.Ordered()) > 0 }

// WaitsForNumbers reports whether an inbox waits for missing numbers, or may come to.
func (e Extension) WaitsForNumbers() bool { return e.FromSQL != nil || len(e.Contiguous()) > 0 }

// PrioritizesInboxes reports whether an inbox hands out urgent messages first, or may come to.
func (e Extension) PrioritizesInboxes() bool { return e.FromSQL != nil || len(e.Prioritized()) > 0 }

// ByPriority is the mode of inboxes that hand out urgent messages first.
const ByPriority = "priority"

// PriorityKind stands for the inboxes that hand out urgent messages first.
func (e Extension) PriorityKind() Priority {
	return *e.Kinds[slices.IndexFunc(e.Kinds, func(k CreatedKind) bool { return k.Priority != nil })].Priority
}

// FiredBy are the events of the triggers that functions add to tables of users for an option, ordering or priority, after those that all have.
func (e Extension) FiredBy(option string) []string {
	all := e.Kinds[1].Fired()
	for _, kind := range e.Kinds {
		if kind.Tracked && (option == "ordering" && kind.Ordering != nil || option == "priority" && kind.Priority != nil) {
			return kind.Fired()[len(all):]
		}
	}
	return nil
}

// place is where the names of triggers of a table have that for an event.
func (e Extension) place(event string) int {
	for _, kind := range e.Kinds {
		if kind.Tracked && slices.Contains(kind.Fired(), event) {
			return slices.Index(kind.Fired(), event) + 1
		}
	}
	return 0
}

// kinds are the inboxes of the spec and, where functions create others, one that stands for those.
func (e Extension) kinds() []Inbox {
	if e.FromSQL == nil {
		return e.Inboxes
	}
	return append([]Inbox{*e.FromSQL}, e.Inboxes...)
}

// HasInboxes reports whether there are inboxes, or may be.
func (e Extension) HasInboxes() bool { return len(e.kinds()) > 0 }

// ForOne is an extension of nothing but an inbox that stands for those that functions create.
func (e Extension) ForOne(i Inbox) Extension {
	return Extension{Schemas: e.Schemas, Extension: e.Extension, Version: e.Version, Settings: e.Settings, Inboxes: []Inbox{i}, one: true}
}

// Fn names a function that takes an inbox, or the one that does the same for a single inbox. Suffixes distinguish such as have one name.
func (e Extension) Fn(name string, suffix ...string) Name {
	if e.one {
		return e.InInternal(e.Inboxes[0].Name + strings.TrimPrefix(name, "inbox") + strings.Join(suffix, ""))
	}
	return e.In(name)
}

// CreatedKind is a kind of inboxes that functions create, with one that stands for them. Another way to hand out messages is another mode.
type CreatedKind struct {
	Inbox
	Tracked bool   // over tables of users
	Mode    string // of ordering, or ByPriority; empty for none
}

// StandIn makes an inbox one that stands for those that functions create: with tables of their own, or, if tracked, over tables of users. What the two
// have in common has the same text.
func (i Inbox) StandIn(tracked bool) Inbox {
	i.Any = true
	i.Table, i.Rows = Name{"~at~", "~table~"}, Name{"~rows_schema~", "~rows_table~"}
	i.Pending.Schema = "~pending_schema~"
	i.Columns = Columns{
		ID: "~id_column~", EventType: "~event_type_column~", ReceivedAt: "~received_at_column~", ProcessedAt: "~processed_at_column~", Error: "~error_column~",
		RetryCount: "~retry_count_column~", AvailableAt: "available_at",
	}
	if i.Ordering != nil {
		o := *i.Ordering
		o.Lock = inserted("v_lock::text")
		o.Backlog.Name, o.DueIndex.Name = "~backlog~", "~backlog_due~"
		i.Ordering = &o
	}
	if i.Priority != nil {
		p := *i.Priority
		p.Any, p.Levels = true, nil
		i.Priority = &p
	}
	if !tracked {
		return i
	}
	i.ChangedFn, i.RowChangedFn = i.InInternal(AnyInbox+"_changed"), i.InInternal(AnyInbox+"_row_changed")
	i.OrderIndex = Name{"~at~", "~order_index~"}
	i.Own = &OwnTable{Triggers: map[string]string{}}
	for _, event := range TriggerEvents {
		i.Own.Triggers[event] = "~" + event + "_trigger~"
	}
	return i
}

// inserted is text that the function puts in, as an expression that a parser takes for a column.
func inserted(what string) string { return sqltext.Ident("~=" + what + "~") }

// insertedIf is the same for text that is not always there, which stands in a comment.
func insertedIf(what string) string { return "/*~=" + what + "~*/" }

// OrDelayed is the condition that a new message is delayed, behind others; empty if none is.
func (i Inbox) OrDelayed() string {
	text := fmt.Sprintf("\n        or new.%s is not null", i.Columns.AvailableAt)
	switch {
	case i.Retry == nil:
		return ""
	case i.Any:
		return insertedIf(ifDelayed(text))
	}
	return text
}

// ifDelayed is a text that is there for an inbox that delays messages.
func ifDelayed(text string) string {
	return fmt.Sprintf("case when v_inbox.has_delay then %s else '' end", sqltext.Literal(text))
}

// Delay is what a failure sets beside the count, if it delays the message.
func (i Inbox) Delay() string {
	if i.Retry == nil {
		return ""
	}
	text := fmt.Sprintf(",\n                available_at = clock_timestamp() + make_interval(secs => least(%s, %s))", i.Retry.MaxSeconds, i.Retry.DelaySeconds("i.retry_count"))
	if i.Any {
		return insertedIf(ifDelayed(text))
	}
	return text
}

// NoDelay is the condition that inbox p_inbox has no back-off; empty if each has one.
func (e Extension) NoDelay() string {
	if e.one {
		return "not " + inserted("v_inbox.has_delay::text")
	}
	var names []string
	for _, name := range e.WithoutDelay() {
		names = append(names, sqltext.Literal(name))
	}
	if names == nil {
		return ""
	}
	return "p_inbox in (" + strings.Join(names, ", ") + ")"
}

// WithoutSequence is a sequence that was given to an inbox without ordering. Inboxes that functions create have a function that looks at their own.
func (e Extension) WithoutSequence(given string) string {
	not, names := " not in (", []string(nil)
	if e.FromSQL != nil {
		not = " in ("
	}
	for _, i := range e.Inboxes {
		if (i.Ordering == nil) == (e.FromSQL != nil) {
			names = append(names, sqltext.Literal(i.Name))
		}
	}
	switch {
	case names != nil:
		return "case when p_inbox" + not + strings.Join(names, ", ") + ") then " + given + " end"
	case e.FromSQL != nil:
		return "null"
	}
	return given
}

// One reports whether it is the view of a single inbox that a function creates.
func (e Extension) One() bool { return e.one }

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
		return fmt.Sprintf("v_inbox.table_triggers[%d]::text", s.place(event))
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
