package spec

import (
	"maps"

	"github.com/pgsluice/sluice/ivm/diag"
)

// merge adds what one more file says. Lists of objects grow; the extension, the artifacts, a role or a setting may be given only once.
func (s *Spec) merge(part *Spec, errs *diag.List) {
	if part.Given("extension") {
		if s.Given("extension") {
			errs.Add(givenTwice(part.Field("extension"), s.Field("extension"), "extension"))
		} else {
			s.Extension = part.Extension
		}
	}
	if part.Given("artifacts") {
		if s.Given("artifacts") {
			errs.Add(givenTwice(part.Field("artifacts"), s.Field("artifacts"), "artifacts"))
		} else {
			s.Artifacts = part.Artifacts
		}
	}
	s.Version = part.Version
	s.Roles.merge(part.Roles, errs)
	s.Settings = s.Settings.merge(part.Settings, errs)
	s.Schema = append(s.Schema, part.Schema...)
	s.StreamTables = append(s.StreamTables, part.StreamTables...)
	s.Outboxes = append(s.Outboxes, part.Outboxes...)
	s.ConsumerGroups = append(s.ConsumerGroups, part.ConsumerGroups...)
	s.Inboxes = append(s.Inboxes, part.Inboxes...)
	s.Place = s.Place.merge(part.Place)
}

// merge keeps the first place of every field.
func (p Place) merge(other Place) Place {
	return Place{At: p.At, fields: union(other.fields, p.fields), meant: union(other.meant, p.meant)}
}

// union holds the entries of both maps; the second wins.
func union[V any](a, b map[string]V) map[string]V {
	both := map[string]V{}
	maps.Copy(both, a)
	maps.Copy(both, b)
	return both
}

func (r *Roles) merge(other Roles, errs *diag.List) {
	ours := []*string{&r.Producer, &r.Consumer, &r.Monitor}
	for i, role := range other.ByField() {
		switch name := role.Field; {
		case role.Name == "":
		case *ours[i] != "":
			errs.Add(givenTwice(other.Field(name), r.Field(name), "roles."+name))
		default:
			*ours[i] = role.Name
		}
	}
	if r.fields == nil {
		r.At = other.At
	}
	r.Place = r.Place.merge(other.Place)
}

// RoleField is a role with the field that names it.
type RoleField struct{ Field, Name string }

// ByField lists the roles under the names of their fields, in the order of these; names that are not given are empty.
func (r *Roles) ByField() []RoleField {
	return []RoleField{{"producer", r.Producer}, {"consumer", r.Consumer}, {"monitor", r.Monitor}}
}

func (s Settings) merge(other Settings, errs *diag.List) Settings {
	for _, setting := range other {
		if first, ok := s.find(setting.Name); ok {
			errs.Add(givenTwice(setting.At, first.At, setting.Name))
			continue
		}
		s = append(s, setting)
	}
	return s
}
