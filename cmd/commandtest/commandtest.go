// Package commandtest opens the command's rooms to the tests below tests/: Go lets only packages below cmd import cmd/internal.
package commandtest

import (
	"github.com/pgsluice/sluice/cmd/internal/cli"
	"github.com/pgsluice/sluice/cmd/internal/demo"
	"github.com/pgsluice/sluice/cmd/internal/drift"
	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/metrics"
	"github.com/pgsluice/sluice/cmd/internal/sandbox"
	"github.com/pgsluice/sluice/cmd/internal/verify"
)

// The command sluice, and the sample that the demo installs.
var (
	Main   = cli.Main
	Sample = demo.Sample
)

// Installing, upgrading and watching on a live server.
type (
	Applied      = live.Applied
	ApplyOptions = live.Options
	NamesTaken   = live.NamesTaken
	Progress     = live.Progress
	Refusal      = live.Refusal
	Scheduler    = live.Scheduler
	Status       = live.Status
)

var (
	Apply           = live.Apply
	Connect         = live.Connect
	ConnectNoticing = live.ConnectNoticing
	Diff            = live.Diff
	ReadStatus      = live.ReadStatus
	Script          = live.Script
	Uninstall       = live.Uninstall
)

// Difference is what an installed database has otherwise than it should; Compare finds them.
type Difference = drift.Difference

var Compare = drift.Compare

// NewMetrics collects the metrics of an extension, which sluice run --listen serves.
var NewMetrics = metrics.NewStatus

// Throw-away servers.
type (
	Finder        = sandbox.Finder
	Install       = sandbox.Install
	Server        = sandbox.Server
	ServerOptions = sandbox.Options
)

var (
	Cleanup  = sandbox.Cleanup
	InMemory = sandbox.InMemory
	Start    = sandbox.Start
)

// Trying out in scratch databases.
type (
	Finding       = verify.Finding
	VerifyCheck   = verify.Check
	VerifyOptions = verify.Options
	VerifyResult  = verify.Result
)

const (
	OK         = verify.OK
	Failed     = verify.Failed
	NotChecked = verify.NotChecked
)

var (
	Findings    = verify.Findings
	SnapshotSQL = verify.SnapshotSQL
	Verify      = verify.Run
)
