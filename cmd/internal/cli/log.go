package cli

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
)

// logger writes to standard error, in one of the formats text and json.
func logger(cmd *cobra.Command, format, least string) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(least)); err != nil {
		return nil, exitError{exitUsage, fmt.Sprintf("sluice: --log-level is debug, info, warn or error, not %q\n", least)}
	}
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), options)), nil
	}
	return nil, exitError{exitUsage, fmt.Sprintf("sluice: --log-format is text or json, not %q\n", format)}
}
