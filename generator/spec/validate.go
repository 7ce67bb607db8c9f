package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/pgsluice/sluice/ivm/diag"
)

// checker checks what a spec means, once its form is known to be right. Fields that could not be read are empty and pass.
type checker struct {
	*Spec
	errs *diag.List
}

func (s *Spec) validate(errs *diag.List) {
	c := checker{s, errs}
	c.extension()
	c.target()
	c.artifacts()
	c.roles(&c.Roles)
	for i := range s.StreamTables {
		c.streamTable(&s.StreamTables[i])
	}
	for i := range s.Outboxes {
		c.outbox(&s.Outboxes[i])
	}
	for i := range s.ConsumerGroups {
		c.consumerGroup(&s.ConsumerGroups[i])
	}
	for i := range s.Inboxes {
		c.inbox(&s.Inboxes[i])
	}
	c.names()
}

// report adds an error of a kind.
func (c checker) report(at diag.Pos, p problem, args ...any) {
	c.errs.Add(p.at(at, args...))
}

func (p problem) at(at diag.Pos, args ...any) diag.Error {
	return diag.Error{Pos: at, Code: p.code, Message: fmt.Sprintf(p.message, args...), Hint: p.hint}
}

func (p problem) since(at, first diag.Pos, args ...any) diag.Error {
	e := p.at(at, args...)
	e.Also = []diag.Note{{Pos: first, Message: "the other one is here"}}
	return e
}

var extensionForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*$`)

func (c checker) extension() {
	e := c.Extension
	if e.Name != "" && !extensionForm.MatchString(e.Name) {
		c.report(e.Field("name"), badExtensionName, e.Name)
	}
	if e.Version != "" {
		c.version(e)
	}
	c.schema(e.Field("schema"), e.Schema)
	if slices.Contains(e.Imperative.Listed, ImperativeOutboxes) && len(c.StreamTables) == 0 {
		c.report(e.Field("imperative"), noOutboxToGive)
	}
}

// artifacts are each listed once, and migrations in one layout only, as all of them stand in one folder.
func (c checker) artifacts() {
	if len(c.Artifacts) == 0 {
		c.report(c.Field("artifacts"), noArtifacts)
	}
	named, layout := map[string]diag.Pos{}, Text{}
	for _, a := range c.Artifacts {
		first, repeated := named[a.Value]
		named[a.Value] = a.At
		switch {
		case a.Value == "":
		case repeated:
			c.errs.Add(artifactTwice.since(a.At, first, a.Value))
		case !IsMigrations(a.Value):
		case layout.Value != "":
			c.errs.Add(twoLayouts.since(a.At, layout.At, layout.Value, a.Value))
		default:
			layout = a
		}
	}
}

// IsMigrations reports whether an artifact is migrations: plain ones, or those of a tool.
func IsMigrations(artifact string) bool {
	return !slices.Contains([]string{ArtifactExtension, ArtifactJobs, ArtifactDocs, ArtifactTLE, ArtifactDBT, ArtifactOps}, artifact)
}

// version accepts semantic versions that PostgreSQL can also use in the name of a script.
func (c checker) version(e Extension) {
	if !IsVersion(e.Version) {
		c.report(e.Field("version"), badVersion, e.Version)
	} else if strings.Contains(e.Version, "--") || strings.HasSuffix(e.Version, "-") {
		c.report(e.Field("version"), unusableVersion, e.Version)
	}
}

func (c checker) schema(at diag.Pos, schema string) {
	if strings.HasPrefix(schema, "pg_") || schema == "information_schema" {
		c.report(at, reservedSchema, schema)
	}
}

// roles checks those of the extension, or of one inbox or outbox.
func (c checker) roles(r *Roles) {
	roles, whole := r.ByField(), c.Roles.ByField()
	for i, role := range roles {
		name, at := role.Name, r.Field(role.Field)
		if strings.HasPrefix(name, "pg_") || name == "public" || name == "none" {
			c.report(at, reservedRole, name)
		}
		same := slices.IndexFunc(roles[:i], func(r RoleField) bool { return name != "" && r.Name == name })
		if same >= 0 {
			c.errs.Add(sameRole.since(at, r.Field(roles[same].Field), name, roles[same].Field, role.Field))
		}
		if r != &c.Roles && name != "" && name == whole[i].Name {
			c.errs.Add(roleOfAll.since(at, c.Roles.Field(role.Field), name, role.Field))
		}
	}
}

// checkDistinctExtensions reports specs that would write into the same directory.
func checkDistinctExtensions(specs []*Spec, errs *diag.List) {
	first := map[string]*Spec{}
	for _, s := range specs {
		name := s.Extension.Name
		if other, taken := first[name]; taken && name != "" {
			errs.Add(duplicateSpec.since(s.Extension.Field("name"), other.Extension.Field("name"), name))
			continue
		}
		first[name] = s
	}
}

// IsVersion reports whether a text is a version that a spec may give.
func IsVersion(text string) bool {
	_, err := semver.StrictNewVersion(text)
	return err == nil
}

// Older reports whether a version comes before another; what is no version is not older than anything.
func Older(a, b string) bool {
	first, err := semver.NewVersion(a)
	second, other := semver.NewVersion(b)
	return err == nil && other == nil && first.LessThan(second)
}

// CompareVersions orders two versions that specs give, by semantic versioning.
func CompareVersions(a, b string) int {
	return semver.MustParse(a).Compare(semver.MustParse(b))
}
