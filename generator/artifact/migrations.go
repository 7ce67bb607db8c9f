package artifact

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/migrations"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// migrationFiles are the scripts of the plain flavour from each released version to the next, as a migration tool wants them.
func (e *Extension) migrationFiles(format migrations.Format, released []upgrade.Manifest, leaps []leap) (Files, error) {
	files := Files{}
	if len(released) == 0 {
		return files, nil
	}
	laid, err := series(released[0], leaps[:len(released)-1]).Files(format)
	for path, text := range laid {
		files[e.Name+"/migrations/"+path] = text
	}
	return files, err
}

// series is one migration per version: the first installs, the others upgrade.
func series(first upgrade.Manifest, leaps []leap) migrations.Series {
	all := migrations.Series{Extension: first.Extension, Schema: sqltext.Ident(first.Schema)}
	all.Migrations = append(all.Migrations, migrations.Migration{
		Version: first.Version, Up: underOwnPath(joined(steps(first, Plain, true))), Down: uninstall(first), Back: true, Fill: fill(first),
	})
	for _, l := range leaps {
		m := migrations.Migration{From: l.from.Version, Version: l.to.Version, Up: UpgradeScript(l.from, l.to, l.forth.plain), Back: l.noWay == ""}
		if fills(l.from, l.to) {
			m.Fill = fill(l.to)
		}
		if m.Back {
			m.Down = UpgradeScript(l.to, l.from, l.back.plain)
		} else {
			m.Down = refusal(l)
		}
		all.Migrations = append(all.Migrations, m)
	}
	return all
}

// fills reports whether a version has stream tables that are new or differ from those of the one before.
func fills(from, to upgrade.Manifest) bool {
	before := map[string]string{}
	for _, m := range from.Made {
		before[cmp.Or(m.OriginID, m.ID())] = m.Definition
	}
	for _, m := range to.Made {
		definition, there := before[cmp.Or(m.OriginID, m.ID())]
		if strings.HasSuffix(m.Kind, "stream table") && (!there || definition != m.Definition) {
			return true
		}
	}
	return false
}

// refusal is the way back where there is none: a tool that found nothing to run would believe that it had gone back.
func refusal(l leap) string {
	return fmt.Sprintf(`do $do$
begin
    raise exception using
        errcode = '0A000',
        message = %s,
        detail = %s,
        hint = 'Restore a backup, or keep this version.';
end;
$do$;
`, sqltext.Literal(fmt.Sprintf("extension %s cannot go back from version %s to %s and keep its data", l.to.Extension, l.to.Version, l.from.Version)), sqltext.Literal(l.noWay))
}
