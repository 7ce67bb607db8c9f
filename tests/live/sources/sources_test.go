// Package sources tests what happens to stream tables when the tables that they read are altered, partitioned, replicated or restored.
package sources

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/live/livetest"
	"github.com/pgsluice/sluice/tests/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestSources runs the scripts of this directory.
func TestSources(t *testing.T) {
	livetest.Run(t, ".", livetest.Options{Commands: map[string]livetest.Command{
		"install": install, "uninstall": uninstall, "replica": replica,
	}})
}

// uninstall FILE removes what install made.
func uninstall(env *livetest.Env, data *datadriven.TestData) string {
	if _, err := env.Session("", "").Conn.Exec(env.T.Context(), installed.Load(env.T, data.CmdArgs[0].Key).Uninstall()); err != nil {
		return pgtest.ErrorText(err) + "\n"
	}
	return ""
}

// replica runs statements as those who apply changes of another server do.
func replica(env *livetest.Env, data *datadriven.TestData) string {
	env.DB.SuperExec(env.T, "set session_replication_role = replica; "+data.Input)
	return ""
}

// install FILE installs the extension of a spec as the owner and fills its stream tables.
func install(env *livetest.Env, data *datadriven.TestData) string {
	extension := installed.Load(env.T, data.CmdArgs[0].Key)
	conn := env.Session("", "").Conn
	for _, sql := range []string{extension.Install(generator.Plain), extension.Fill()} {
		if _, err := conn.Exec(env.T.Context(), sql); err != nil {
			return pgtest.ErrorText(err) + "\n"
		}
	}
	return ""
}
