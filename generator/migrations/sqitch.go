package migrations

import (
	"fmt"
	"strings"
)

// planned is when, and by whom, all changes of a Sqitch plan were planned: their ids are made of it, so it must not move.
const planned = "2000-01-01T00:00:00Z Sluice <sluice@localhost>"

// sqitch has psql run three scripts for each change, which must begin and commit.
func sqitch(files map[string]string, s Series, m Migration) error {
	name := s.name(m)
	files["deploy/"+name+".sql"] = fmt.Sprintf("-- Deploy %s:%s to pg\n", s.Extension, name) + s.title(m) + "\n" + transaction(m.Up)
	files["revert/"+name+".sql"] = fmt.Sprintf("-- Revert %s:%s from pg\n", s.Extension, name) + s.backTitle(m) + "\n" + transaction(m.Down)
	files["verify/"+name+".sql"] = fmt.Sprintf("-- Verify %s:%s on pg\n", s.Extension, name) + s.verify(m)
	if m.Fill != "" {
		name += "_fill"
		files["deploy/"+name+".sql"] = fmt.Sprintf("-- Deploy %s:%s to pg\n", s.Extension, name) + s.fillTitle(m) + "\n" + m.Fill
		files["revert/"+name+".sql"] = fmt.Sprintf("-- Revert %s:%s from pg\n", s.Extension, name) + nothingBack
		files["verify/"+name+".sql"] = fmt.Sprintf("-- Verify %s:%s on pg\n", s.Extension, name) + s.verify(m)
	}
	return nil
}

// verify fails unless this version or a later one is installed: Sqitch verifies old changes, too.
func (s Series) verify(m Migration) string {
	parts, _, _ := strings.Cut(m.Version, "-")
	parts, _, _ = strings.Cut(parts, "+")
	return fmt.Sprintf(`-- Fails unless this version or a later one is installed.

do $do$
begin
    if not exists (
        select
        from %s.pgt_extension e
        where pg_catalog.string_to_array(substring(e.version from '^[0-9.]+'), '.')::bigint[] operator(pg_catalog.>=) '{%s}'::bigint[]
    ) then
        raise exception 'version %s of extension %s is not installed';
    end if;
end;
$do$;
`, s.Schema, strings.ReplaceAll(parts, ".", ","), m.Version, s.Extension)
}

// sqitchPlan adds the plan, and the configuration that names the engine.
func sqitchPlan(files map[string]string, s Series) {
	var plan strings.Builder
	fmt.Fprintf(&plan, "%%syntax-version=1.0.0\n%%project=%s\n\n", s.Extension)
	add := func(name, needs, note string) {
		if needs != "" {
			needs = " [" + needs + "]"
		}
		fmt.Fprintf(&plan, "%s%s %s # %s\n", name, needs, planned, note)
	}
	before := ""
	for _, m := range s.Migrations {
		note := "Installs " + m.Version
		if m.From != "" {
			note = "From " + m.From + " to " + m.Version
		}
		add(s.name(m), before, note)
		before = s.name(m)
		if m.Fill != "" {
			add(before+"_fill", before, "Fills its stream tables")
		}
	}
	files["sqitch.plan"] = plan.String()
	files["sqitch.conf"] = "[core]\n\tengine = pg\n"
}
