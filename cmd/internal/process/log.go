package process

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
)

// LogFormats and LogLevels are what the flags of a log take.
var (
	LogFormats = []string{"text", "json"}
	LogLevels  = []string{"debug", "info", "warn", "error"}
)

// Logger writes to standard error, in one of the formats text and json.
func Logger(cmd *cobra.Command, format, least string) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(least)); err != nil {
		return nil, Fail(Usage, fmt.Sprintf("%s: --log-level is debug, info, warn or error, not %q\n", cmd.Root().Name(), least))
	}
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), options)), nil
	}
	return nil, Fail(Usage, fmt.Sprintf("%s: --log-format is text or json, not %q\n", cmd.Root().Name(), format))
}
