package migrations

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator/migrations"
)

func TestSqitch(t *testing.T) {
	if _, err := exec.LookPath("sqitch"); err != nil {
		t.Fatal("sqitch not found: install sqitch and libdbd-pg-perl")
	}
	follow(t, migrations.Sqitch, open, func(t *testing.T, dsn, dir string) tool {
		address, err := url.Parse(dsn)
		must(t, err)
		run := func(args ...string) error {
			cmd := exec.CommandContext(t.Context(), "sqitch", append([]string{"--chdir", dir}, args...)...)
			cmd.Env = append(os.Environ(), "PGHOST="+address.Query().Get("host"), "PGPORT="+address.Query().Get("port"), "PGUSER="+address.User.Username(),
				"SQITCH_FULLNAME=Test", "SQITCH_EMAIL=test@example.com", "LC_ALL=C.UTF-8", "SQITCH_USER_CONFIG=/dev/null", "SQITCH_SYSTEM_CONFIG=/dev/null")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", cmd, err, out)
			}
			return nil
		}
		database := "db:pg:" + strings.TrimPrefix(address.Path, "/")
		return tool{
			up: func() error {
				if err := run("deploy", "--verify", database); err != nil && !strings.Contains(err.Error(), "Nothing to deploy") {
					return err
				}
				return run("verify", database)
			},
			down: func() error { return run("revert", "-y", "--to", "@HEAD^", database) },
		}
	})
}
