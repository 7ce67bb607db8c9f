// Command sluice-relay moves events between outboxes, inboxes and brokers.
package main

import (
	"os"

	"github.com/pgsluice/sluice/cmd/internal/relay/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
