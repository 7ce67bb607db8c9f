package generator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// dbtFunctions are the functions of an extension that macros call. Not every version has them all.
var dbtFunctions = []string{"refresh_stream_table", "tick_once", "enable_outbox", "create_consumer_group", "create_inbox", "inbox_health"}

// dbtFiles are the dbt package: macros that install, upgrade, refresh and configure, tests, and the relations as sources.
func (e *Extension) dbtFiles(released []upgrade.Manifest) (Files, error) {
	project := "sluice_" + strings.ReplaceAll(e.Name, "-", "_")
	upgrades, err := e.dbtUpgrades(released, project)
	if err != nil {
		return nil, err
	}
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
		files[dir+path] = execute("dbt/"+template, data)
	}
	for _, u := range upgrades {
		files[fmt.Sprintf("%smacros/upgrade_%s_to_%s.sql", dir, u.From, u.To)] = execute("dbt/upgrade_script.sql", u)
	}
	return files, nil
}

// functionsOf lists those functions of the extension's schema that this version has.
func (e *Extension) functionsOf(names []string) []string {
	var there []string
	for _, name := range names {
		if slices.ContainsFunc(e.Objects, func(o Object) bool {
			return o.Kind == "function" && strings.HasPrefix(o.Signature, sqltext.Qualified(e.Schema, name)+"(")
		}) {
			there = append(there, name)
		}
	}
	return there
}

// dbtUpgrades lead from each released version to the next, and from the last to this one.
func (e *Extension) dbtUpgrades(released []upgrade.Manifest, project string) ([]render.DBTUpgrade, error) {
	var upgrades []render.DBTUpgrade
	chain := e.chain(released)
	for n := 1; n < len(chain); n++ {
		from, to := chain[n-1], chain[n]
		plan, err := Upgrade(from, to, false)
		if err != nil {
			return nil, fmt.Errorf("from version %s to %s: %w", from.Version, to.Version, err)
		}
		upgrades = append(upgrades, render.DBTUpgrade{
			No: n, From: from.Version, FromDigest: from.Digest(), To: to.Version, ToDigest: to.Digest(),
			Losses: plan.Losses(), Script: UpgradeScript(from, to, plan), Project: project,
		})
	}
	return upgrades, nil
}
