package render

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Inboxes that functions create at run time have the statements of an inbox of the spec. They are rendered for an inbox whose name, schema and number of
// failures are the words below; a function puts those of a real one in their places.
const (
	AnyInbox   = "~inbox~"
	AnySchema  = "~schema~"
	AnyRetries = 1_000_000_007
)

// kinds are the inboxes of the spec and, where functions create others, one that stands for those.
func (e Extension) kinds() []Inbox {
	if e.FromSQL == nil {
		return e.Inboxes
	}
	return append([]Inbox{*e.FromSQL}, e.Inboxes...)
}

// HasInboxes reports whether there are inboxes, or may be.
func (e Extension) HasInboxes() bool { return len(e.kinds()) > 0 }

// ForOne is an extension of nothing but the inbox that stands for those that functions create.
func (e Extension) ForOne() Extension {
	return Extension{Schemas: e.Schemas, Extension: e.Extension, Version: e.Version, Settings: e.Settings, Inboxes: []Inbox{*e.FromSQL}, one: true}
}

// Fn names a function that takes an inbox, or the one that does the same for a single inbox. Suffixes distinguish such as have one name.
func (e Extension) Fn(name string, suffix ...string) Name {
	if e.one {
		return e.InInternal(e.Inboxes[0].Name + strings.TrimPrefix(name, "inbox") + strings.Join(suffix, ""))
	}
	return e.In(name)
}

// Script is the statements of an inbox that a function creates, for format().
type Script struct {
	Extension
	Table      string // and sequences
	Code       string // functions, views, triggers and rights, which an upgrade creates again
	DeadLetter string
	Stats      string
	Uncode     string // drops what Code, DeadLetter and Stats create, but for triggers
	Unsequence string // drops sequences
	Unindex    string // drops the index

	names *regexp.Regexp
	args  []string
}

// NewScript begins a script.
func NewScript(e Extension) *Script {
	qualified, _, _ := strings.Cut(inFormat(sqltext.Literal(e.InInternal(AnyInbox).String())), AnyInbox)
	return &Script{Extension: e, names: regexp.MustCompile(regexp.QuoteMeta(qualified) + anyNames)}
}

// anyNames finds the words that stand for names, with what is made of them, and how they are quoted. The rest of a literal that names a relation of
// the internal schema comes first.
const anyNames = `(\w*~inbox~\w*)"'|"(\w*~(?:inbox|schema)~\w*)"|'(\w*~(?:inbox|schema)~\w*)'|(\w*~(?:inbox|schema)~\w*)|1000000007`

// Format puts the arguments of format() in the places of names. It takes each as it is quoted: %I and %L quote whatever a name holds.
func (s *Script) Format(sql string) string {
	return s.names.ReplaceAllStringFunc(inFormat(sql), func(found string) string {
		m := s.names.FindStringSubmatch(found)
		switch relation, identifier, literal, text := m[1], m[2], m[3], m[4]; {
		case relation != "":
			return s.arg(fmt.Sprintf("format('%%I.%%I', %s, %s)", sqltext.Literal(s.InternalName), s.value(relation)), "L")
		case identifier != "":
			return s.arg(s.value(identifier), "I")
		case literal != "":
			return s.arg(s.value(literal), "L")
		case text != "": // within a literal, or in a comment
			return s.arg(fmt.Sprintf("replace(%s, '''', '''''')", s.value(text)), "s")
		default:
			return s.arg("v_inbox.max_retries::text", "s")
		}
	})
}

// value is a name as an expression.
func (s *Script) value(name string) string {
	before, after, found := strings.Cut(name, AnyInbox)
	switch {
	case name == AnySchema:
		return "v_inbox.inbox_schema::text"
	case name == AnyInbox:
		return "p_inbox"
	case !found:
		return sqltext.Literal(name)
	case before == "":
		return fmt.Sprintf("%s.pgt_derived_name(p_inbox || %s)", s.Internal(), sqltext.Literal(after))
	default:
		return fmt.Sprintf("%s.pgt_derived_name(%s || p_inbox || %s)", s.Internal(), sqltext.Literal(before), sqltext.Literal(after))
	}
}

// arg is the place of an argument.
func (s *Script) arg(value, kind string) string {
	for n, known := range s.args {
		if known == value {
			return fmt.Sprintf("%%%d$%s", n+1, kind)
		}
	}
	s.args = append(s.args, value)
	return fmt.Sprintf("%%%d$%s", len(s.args), kind)
}

// Args lists the arguments of format().
func (s Script) Args() string { return strings.Join(s.args, ",\n        ") }
