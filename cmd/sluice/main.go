// Command sluice generates PostgreSQL extensions from specs.
package main

import (
	"os"
	"runtime/debug"

	"github.com/pgsluice/sluice/cmd/internal/cli"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a run is short: collecting garbage less often saves a sixth of the time to compile
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
