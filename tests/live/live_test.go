package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/livetest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestContract runs the scripts of this directory. Each begins with an empty database, in which it installs a spec: the
// shop, or one of its own files.
func TestContract(t *testing.T) {
	livetest.Run(t, ".", options)
}

// TestMerge is apart because PostgreSQL 14 has no merge.
func TestMerge(t *testing.T) {
	if pgtest.Server(t).Major < 15 {
		t.Log("no merge in this version")
		return
	}
	for _, file := range []string{"merge", "merge_parts"} {
		t.Run(file, func(t *testing.T) { livetest.RunFile(t, "testdata/"+file+".txtar", options) })
	}
}

var options = livetest.Options{Commands: map[string]livetest.Command{
	"install":   install,
	"uninstall": uninstall,
	"ticks":     ticks,
	"heard":     heard,
	"refused":   refused,
}}

// install [FILE] installs the extension of a spec as the owner; without a file, the shop.
func install(env *livetest.Env, data *datadriven.TestData) string {
	return script(env, load(env, data).Install(generator.Plain))
}

// uninstall [FILE] removes what install made.
func uninstall(env *livetest.Env, data *datadriven.TestData) string {
	return script(env, load(env, data).Uninstall())
}

// script runs a script in one transaction, as the owner; it shows only an error.
func script(env *livetest.Env, sql string) string {
	if _, err := env.Session("", "").Conn.Exec(env.T.Context(), sql); err != nil {
		return pgtest.ErrorText(err) + "\n"
	}
	return ""
}

func load(env *livetest.Env, data *datadriven.TestData) *generator.Extension {
	path := installed.Shop()
	if len(data.CmdArgs) > 0 {
		path = env.Path(data.CmdArgs[0].Key)
	}
	return installed.Load(env.T, path)
}

// ticks N calls tick() N times and shows what it says.
func ticks(env *livetest.Env, data *datadriven.TestData) string {
	var out strings.Builder
	var n int
	fmt.Sscan(data.CmdArgs[0].Key, &n)
	for range n {
		out.WriteString(env.Session("", "").Run(env.T.Context(), "call pgtrickle.tick()"))
	}
	return out.String()
}

// heard [session=NAME] prints of each notification to a session what it is, how it is shortened, and whether it could be
// larger than a notification may be, without its text.
func heard(env *livetest.Env, data *datadriven.TestData) string {
	var out strings.Builder
	text := env.Session(data.CmdArgs[0].Vals[0], "").Notifications(env.T.Context(), 200*time.Millisecond)
	for line := range strings.Lines(text) {
		_, payload, _ := strings.Cut(strings.TrimSpace(line), ": ")
		var alert map[string]any
		err := json.Unmarshal([]byte(payload), &alert)
		id, _ := alert["event_id"].(string)
		fmt.Fprintf(&out, "%v %.4q under 8000 bytes: %v, error %v\n", alert["type"], id, len(payload) < 8000, err)
	}
	return out.String()
}

// refused as=ROLE reports the SQLSTATE of each statement: which of the things it needs is refused first is of no concern.
func refused(env *livetest.Env, data *datadriven.TestData) string {
	var out strings.Builder
	conn := env.Session("", data.CmdArgs[0].Vals[0]).Conn
	for _, statement := range pgtest.Split(data.Input) {
		_, err := conn.Exec(env.T.Context(), statement)
		var pg *pgconn.PgError
		if errors.As(err, &pg) {
			fmt.Fprintf(&out, "%s %s\n", pg.Code, statement)
		} else {
			fmt.Fprintf(&out, "done  %s\n", statement)
		}
	}
	return out.String()
}
