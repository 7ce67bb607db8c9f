package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

func main() {
	runAsCommand()
	cfg, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = run(ctx, cfg)
	commandtest.Cleanup()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cfg config) error {
	chosen := choose(cfg.Run)
	if cfg.List {
		for _, c := range chosen {
			fmt.Println(c.title())
		}
		return nil
	}
	report, err := measure(ctx, cfg, chosen, os.Stderr)
	if err != nil {
		return err
	}
	if cfg.Write != "" {
		var text bytes.Buffer
		if err := report.writeText(&text); err != nil {
			return err
		}
		if err := os.WriteFile(cfg.Write, text.Bytes(), 0o666); err != nil {
			return err
		}
	}
	if cfg.JSON {
		return report.writeJSON(os.Stdout)
	}
	return report.writeText(os.Stdout)
}
