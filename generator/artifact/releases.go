package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Releases reads the manifests of the released versions of an extension from the artifact directory, oldest first.
func Releases(out, extension string) ([]upgrade.Manifest, error) {
	dir := filepath.Join(out, extension, "releases")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var versions []string
	for _, entry := range entries {
		version, isManifest := strings.CutSuffix(entry.Name(), ".json")
		switch {
		case !isManifest:
		case !spec.IsVersion(version):
			return nil, fmt.Errorf("%s is named after no version: \"sluice release\" did not write it", filepath.Join(dir, entry.Name()))
		default:
			versions = append(versions, version)
		}
	}
	slices.SortFunc(versions, spec.CompareVersions)
	var released []upgrade.Manifest
	for _, version := range versions {
		var before *upgrade.Manifest
		if n := len(released); n > 0 {
			before = &released[n-1]
		}
		path := filepath.Join(dir, version+".json")
		m, err := readRelease(path, version, before)
		if err != nil {
			return nil, err
		}
		if m.Extension != extension || m.Version != version {
			return nil, fmt.Errorf("%s holds version %q of extension %q: restore what \"sluice release\" wrote", path, m.Version, m.Extension)
		}
		released = append(released, m)
	}
	return released, nil
}

// readRelease reads the manifest of a version that follows another one, or none.
func readRelease(path, version string, before *upgrade.Manifest) (m upgrade.Manifest, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if strings.HasPrefix(string(text), "<<<<<<< ") || strings.Contains(string(text), "\n<<<<<<< ") {
		return m, fmt.Errorf("%s holds the marks of a merge conflict: two branches released version %s. Keep the file of one whole (git checkout --ours or --theirs), and release the other under the next number",
			path, version)
	}
	m, err = upgrade.Decode([]byte(withLineFeeds(string(text))), before)
	switch base := (upgrade.ErrBase{}); {
	case err == nil:
		return m, nil
	case !errors.As(err, &base):
		return m, fmt.Errorf("%s: %w", path, err)
	case before == nil || spec.CompareVersions(base.Version, before.Version) > 0:
		return m, fmt.Errorf("%s: %w, whose file is missing: restore it", path, err)
	}
	return m, fmt.Errorf("%s: %w, but another branch released %s after that. Remove this file, generate, and release again", path, err, before.Version)
}

// ErrReleased is the error that the spec of a released version generates other objects than the release.
type ErrReleased struct{ Extension, Version string }

func (e ErrReleased) Error() string {
	return fmt.Sprintf("version %s of extension %s is released, and the spec now makes something else", e.Version, e.Extension)
}

// ErrPassed is the error that a version is not released but comes before one that is. Migrations of releases are numbered and keep their
// bytes.
type ErrPassed struct{ Extension, Version, Released string }

func (e ErrPassed) Error() string {
	return fmt.Sprintf("version %s of extension %s comes before %s, which is released", e.Version, e.Extension, e.Released)
}

// Follows reports how a version does not go with those that are released, oldest first; nil if it does.
func (e *Extension) Follows(released []upgrade.Manifest) error {
	if n := slices.IndexFunc(released, e.sameVersion); n >= 0 {
		if released[n].Digest() != e.Digest() {
			return ErrReleased{e.Name, e.Version}
		}
		return nil
	}
	if n := len(released); n > 0 && spec.CompareVersions(e.Version, released[n-1].Version) < 0 {
		return ErrPassed{e.Name, e.Version, released[n-1].Version}
	}
	return nil
}

func (e *Extension) sameVersion(m upgrade.Manifest) bool { return m.Version == e.Version }

// Release adds the manifest of the current version to the artifact directory; it returns its path, and false if it was there.
func (e *Extension) Release(out string) (string, bool, error) {
	released, err := Releases(out, e.Name)
	if err != nil {
		return "", false, err
	}
	path := filepath.Join(out, e.Name, "releases", e.Version+".json")
	if err := e.Follows(released); err != nil || slices.ContainsFunc(released, e.sameVersion) {
		return path, false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return path, false, err
	}
	text := e.Manifest().Encode()
	if n := len(released); n > 0 {
		text = e.Manifest().EncodeOn(released[n-1])
	}
	return path, true, os.WriteFile(path, []byte(text), 0o666)
}

// leap leads from one version to the next, and back where that is known and loses nothing.
type leap struct {
	from, to    upgrade.Manifest
	forth, back way
	noWay       string // why nothing leads back; empty if something does
}

// way is a plan for either flavour.
type way struct{ plain, member upgrade.Plan }

// Releasing lists the versions that are released once this one is, oldest first.
func (e *Extension) Releasing(released []upgrade.Manifest) []upgrade.Manifest {
	if slices.ContainsFunc(released, e.sameVersion) {
		return released
	}
	return append(slices.Clone(released), e.Manifest())
}

// leaps lead from each version of a chain to the next. PostgreSQL and migration tools chain them.
func leaps(chain []upgrade.Manifest) ([]leap, error) {
	var all []leap
	for n := 1; n < len(chain); n++ {
		l := leap{from: chain[n-1], to: chain[n]}
		var err error
		if l.forth, err = wayBetween(l.from, l.to); err != nil {
			return nil, fmt.Errorf("from version %s to %s: %w", l.from.Version, l.to.Version, err)
		}
		if l.back, err = wayBetween(l.to, l.from); err != nil {
			l.noWay = err.Error()
		} else if losses := l.back.plain.Losses(); len(losses) > 0 {
			l.noWay = "That would delete " + strings.Join(losses, ", ") + "."
		}
		all = append(all, l)
	}
	return all, nil
}

// Upgrade derives the steps from one version to another, which may be an older one with the same runtime; member says whether their objects are
// members of an extension.
func Upgrade(from, to upgrade.Manifest, member bool) (upgrade.Plan, error) {
	if now, then := runtimeVersion(from), runtimeVersion(to); spec.Older(then, now) {
		return upgrade.Plan{}, fmt.Errorf("version %s has the runtime of Sluice %s, and version %s that of Sluice %s, which does not know what the later one wrote", from.Version, now, to.Version, then)
	}
	plan, err := upgrade.Derive(from, to, member)
	plan.Downgrade = IsDowngrade(from.Version, to.Version)
	return plan, err
}

// runtimeVersion is the version of Sluice that wrote the runtime of a version; empty if it does not say.
func runtimeVersion(m upgrade.Manifest) string {
	id := "function " + sqltext.Qualified(m.Schema, "runtime_version") + "()"
	if at := slices.IndexFunc(m.Objects, func(o upgrade.Object) bool { return o.ID() == id }); at >= 0 {
		if found := returnedVersion.FindStringSubmatch(m.Objects[at].SQL); found != nil {
			return found[1]
		}
	}
	return ""
}

var returnedVersion = regexp.MustCompile(`return '([0-9]+[.][0-9]+[.][0-9]+[^']*)' \|\| ' \('`)

// IsDowngrade reports whether the second version comes before the first.
func IsDowngrade(from, to string) bool { return spec.Older(to, from) }

func wayBetween(from, to upgrade.Manifest) (way, error) {
	plain, err := Upgrade(from, to, false)
	if err != nil {
		return way{}, err
	}
	member, err := Upgrade(from, to, true)
	return way{plain, member}, err
}

// update is a script for ALTER EXTENSION … UPDATE.
type update struct{ from, to, script string }

// updates are the scripts of all leaps, forth and back.
func updates(leaps []leap) []update {
	var all []update
	for _, l := range leaps {
		all = append(all, update{l.from.Version, l.to.Version, memberScript(l.from, l.to, l.forth.member)})
		if l.noWay == "" {
			all = append(all, update{l.to.Version, l.from.Version, memberScript(l.to, l.from, l.back.member)})
		}
	}
	return all
}

// sourced is an update as a file, which psql must not run.
func (e *Extension) sourced(u update) string {
	return fmt.Sprintf("-- Extension %s from version %s to %s, generated by Sluice. Do not edit: change the spec and generate again.\n\n"+
		"\\echo Use \"alter extension %s update to %s\" to load this file. \\quit\n\n%s",
		e.Name, u.from, u.to, sqltext.Ident(e.Name), sqltext.Literal(u.to), u.script)
}

// UpgradeScript is the whole of a plan for the plain flavour, for one transaction.
func UpgradeScript(from, to upgrade.Manifest, plan upgrade.Plan) string {
	return underOwnPath(fmt.Sprintf("%s\n%s\n%s%s\n%s%s",
		requireVersion(from), requireNames(upgradeClaims(from, to, plan)), from.KeepSettings(), plan.Script(), noteVersion(to), attach(to, false)))
}

// UpgradeSteps is UpgradeScript for somebody who describes how it goes.
func UpgradeSteps(from, to upgrade.Manifest, plan upgrade.Plan) []Step {
	steps := []Step{
		{What: "version " + from.Version, SQL: requireVersion(from)}, {What: "names", SQL: requireNames(upgradeClaims(from, to, plan))}, {What: "settings", SQL: from.KeepSettings()},
	}
	for _, step := range plan.Steps {
		if step.SQL != "" {
			steps = append(steps, Step{step.Action + " " + step.Object, step.SQL, step.Long()})
		}
	}
	return append(steps, Step{What: "version " + to.Version, SQL: noteVersion(to)}, Step{"what stands on users' tables", attach(to, false), true})
}

func noteVersion(m upgrade.Manifest) string {
	return fmt.Sprintf("update %s.pgt_extension set version = %s, digest = %s, installed_at = now();\n", sqltext.Ident(m.Schema), sqltext.Literal(m.Version), sqltext.Literal(m.Digest()))
}

// memberScript upgrades the members of an extension. Triggers on users' tables and stream tables follow with attach(), which apply and the
// next tick call.
func memberScript(from, to upgrade.Manifest, plan upgrade.Plan) string {
	return underOwnPath(requireNames(upgradeClaims(from, to, plan)) + "\n" + from.KeepSettings() + plan.Script() + "\n" + noteVersion(to))
}
