package plan

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Warnings are what a valid spec is likely not meant to say: ids that do not distinguish messages.
func Warnings(s *spec.Spec) []diag.Error {
	var all []diag.Error
	for n := range s.Inboxes {
		i := &s.Inboxes[n]
		if i.EventID == "" {
			continue
		}
		warn := func(message, hint string) {
			all = append(all, diag.Error{Pos: i.Field("event_id"), Code: "id-scope", IsWarning: true, Message: message, Hint: hint})
		}
		switch id := sqltext.DescribeComputedID(i.EventID); {
		case id.IsConstant:
			warn(fmt.Sprintf("event_id of inbox %q reads nothing of the payload, so all messages but the first are duplicates", i.Name),
				"compute it from what identifies a message, such as payload->>'id'")
		case id.StandsIn != "":
			warn(fmt.Sprintf("event_id of inbox %q has a value where %s finds a part missing, so messages without that part may be taken for duplicates", i.Name, id.StandsIn),
				"let the id be null: a message without one is refused; || is null where a part is")
		}
	}
	return all
}
