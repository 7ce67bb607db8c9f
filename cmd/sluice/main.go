// Command sluice generates PostgreSQL extensions from specs.
package main

import (
	"os"

	"github.com/pgsluice/sluice/cmd/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
