// Package relaytest opens the command sluice-relay to the tests below tests/. It is not in commandtest, as the clients of brokers that it brings would be
// linked into every test binary, which takes a quarter of the time again.
package relaytest

import relay "github.com/pgsluice/sluice/cmd/internal/relay/cli"

// Main is the command sluice-relay.
var Main = relay.Main
