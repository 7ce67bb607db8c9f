package artifact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// dbtFunctions are the functions of an extension that macros call. Not every version has them all.
var dbtFunctions = []string{"refresh_stream_table", "tick_once", "enable_outbox", "create_consumer_group", "create_inbox", "enable_inbox_tracking", "enable_inbox_ordering", "enable_inbox_priority", "inbox_health"}

// dbtFiles are the dbt package: macros that install, upgrade, refresh and configure, tests, and the relations as sources.
func (e *Extension) dbtFiles(leaps []leap) Files {
	project := "sluice_" + strings.ReplaceAll(e.Name, "-", "_")
	upgrades := dbtUpgrades(leaps, project)
	data := render.DBT{
		Extension: e.view, Project: project, Digest: e.Digest(),
		Functions: e.functionsOf(dbtFunctions), Script: e.Install(Plain), Upgrades: upgrades, Sources: e.dbtSources(),
	}
	files, dir := Files{}, e.Name+"/dbt/"
	for path, template := range map[string]string{
		"dbt_project.yml":           "dbt_project.yml",
		"README.md":                 "readme.md",
		"macros/extension.sql":      "extension.sql",
		"macros/install.sql":        "install.sql",
		"macros/install_script.sql": "install_script.sql",
		"macros/refresh.sql":        "refresh.sql",
		"macros/messaging.sql":      "messaging.sql",
		"models/sources.yml":        "sources.yml",
		"tests/generic/healthy.sql": "healthy.sql",
	} {
		files[dir+path] = render.Must("dbt/"+template, data)
	}
	for _, u := range upgrades {
		files[fmt.Sprintf("%smacros/upgrade_%s_to_%s.sql", dir, u.From, u.To)] = render.Must("dbt/upgrade_script.sql", u)
	}
	return files
}

// functionsOf lists those functions of the extension's schema that this version has.
func (e *Extension) functionsOf(names []string) []string {
	var there []string
	for _, name := range names {
		if slices.ContainsFunc(e.Objects, func(o upgrade.Object) bool {
			return o.Kind == "function" && strings.HasPrefix(o.Signature, sqltext.Qualified(e.Schema, name)+"(")
		}) {
			there = append(there, name)
		}
	}
	return there
}

// dbtUpgrades lead from each released version to the next, and from the last to this one.
func dbtUpgrades(leaps []leap, project string) []render.DBTUpgrade {
	var upgrades []render.DBTUpgrade
	for n, l := range leaps {
		upgrades = append(upgrades, render.DBTUpgrade{
			No: n + 1, From: l.from.Version, FromDigest: l.from.Digest(), To: l.to.Version, ToDigest: l.to.Digest(),
			Losses: l.forth.plain.Losses(), Script: UpgradeScript(l.from, l.to, l.forth.plain), Project: project,
		})
	}
	return upgrades
}
