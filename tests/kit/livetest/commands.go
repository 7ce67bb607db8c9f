package livetest

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

var builtin = map[string]Command{
	"sql":           sql,
	"until":         until,
	"notifications": notifications,
	"tick":          tick,
	"plpgsql_check": plpgsqlCheck,
	"sluice":        sluice,
}

// command runs a command of the script.
func (env *Env) command(t *testing.T, data *datadriven.TestData) string {
	t.Helper()
	run, ok := env.opts.Commands[data.Cmd]
	if !ok {
		run, ok = builtin[data.Cmd]
	}
	if !ok {
		data.Fatalf(t, "unknown command %s", data.Cmd)
	}
	data.Input = env.Expand(data.Input)
	return env.scrub(run(env, data))
}

// Expand replaces $DSN, $SUPER_DSN and $WORK by what they stand for.
func (env *Env) Expand(text string) string {
	return strings.NewReplacer("$DSN", env.dsn, "$SUPER_DSN", env.DB.SuperDSN(), "$WORK", env.Work).Replace(text)
}

// scrub replaces what differs from run to run by the name it has in scripts.
func (env *Env) scrub(text string) string {
	return strings.NewReplacer(
		env.dsn, "$DSN", env.DB.SuperDSN(), "$SUPER_DSN", env.Work, "$WORK",
		env.DB.Name, "$DATABASE", env.DB.Server.SocketDir, "$SOCKET_DIR").Replace(text)
}

// Session returns a session of the script, by name and role, which are "" for
// the unnamed one and for the owner.
func (env *Env) Session(name, role string) *pgtest.Session {
	env.T.Helper()
	key := name + "\x00" + role
	if s := env.sessions[key]; s != nil {
		return s
	}
	dsn := env.dsn
	if role != "" {
		dsn = env.DB.SuperDSN()
	}
	s := pgtest.OpenSession(env.T, dsn, name)
	if role != "" {
		become := "set session authorization " + pgx.Identifier{role}.Sanitize()
		if _, err := s.Conn.Exec(env.T.Context(), become); err != nil {
			env.T.Fatal(pgtest.ErrorText(err))
		}
	}
	env.sessions[key] = s
	return s
}

// arg returns the value of an argument of a command, or what it is by default.
func arg(data *datadriven.TestData, key, otherwise string) string {
	for _, a := range data.CmdArgs {
		if a.Key == key && len(a.Vals) == 1 {
			return a.Vals[0]
		}
	}
	return otherwise
}

func (env *Env) sessionOf(data *datadriven.TestData) *pgtest.Session {
	return env.Session(arg(data, "session", ""), arg(data, "as", ""))
}

func sql(env *Env, data *datadriven.TestData) string {
	return env.sessionOf(data).Run(env.T.Context(), data.Input)
}

func tick(env *Env, _ *datadriven.TestData) string {
	return env.Session("", "").Run(env.T.Context(), "call "+env.opts.Schema+".tick()")
}

func notifications(env *Env, data *datadriven.TestData) string {
	return env.sessionOf(data).Notifications(env.T.Context(), 200*time.Millisecond)
}

// until is for what happens in its own time. It says nothing when it comes
// true, and the last answer when it does not in time.
func until(env *Env, data *datadriven.TestData) string {
	timeout, err := time.ParseDuration(arg(data, "timeout", "1m"))
	if err != nil {
		return err.Error()
	}
	session := env.sessionOf(data)
	for deadline := time.Now().Add(timeout); ; time.Sleep(20 * time.Millisecond) {
		answer := session.Run(env.T.Context(), data.Input)
		if strings.Contains(answer, "\nt\n(1 row)") {
			return ""
		}
		if time.Now().After(deadline) || strings.Contains(answer, "ERROR") {
			return fmt.Sprintf("not within %s:\n%s", timeout, answer)
		}
	}
}

func plpgsqlCheck(env *Env, data *datadriven.TestData) string {
	var b strings.Builder
	for _, finding := range pgtest.Findings(env.T, env.DB, arg(data, "schema", env.opts.Schema)) {
		fmt.Fprintln(&b, finding)
	}
	return b.String()
}

// slow is what apply says of a step that takes five seconds, as any may on a busy machine.
var slow = regexp.MustCompile(`(?m)^[a-z][a-z0-9. ]*: \d+s\n`)

// sluice runs the command line; its input is the program's. What it prints
// comes first, then what it says on standard error, then a status that is not 0.
func sluice(env *Env, data *datadriven.TestData) string {
	if env.opts.Main == nil {
		return "no command line was given to this test"
	}
	var args []string
	for _, a := range data.CmdArgs {
		args = append(args, env.Expand(a.String()))
	}
	var stdout, stderr bytes.Buffer
	status := env.opts.Main(args, strings.NewReader(data.Input), &stdout, &stderr)
	out := withNewline(stdout.String()) + withNewline(slow.ReplaceAllString(stderr.String(), ""))
	if status != 0 {
		out += fmt.Sprintf("exit status %d\n", status)
	}
	return out
}

func withNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
