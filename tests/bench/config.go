package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"time"
)

// config is what the command line says.
type config struct {
	Run     *regexp.Regexp
	List    bool
	JSON    bool
	Write   string  // a file that gets the report, too
	Seconds float64 // of a turn
	Rounds  int
	Minutes float64 // of each measurement over time
	Payload int     // bytes
	Types   int     // event types, mixed within a statement
	Buffers string  // shared_buffers
	Locale  string  // of the database, by ICU; empty: C.UTF-8
	Backlog float64 // scales how many messages wait
	Sales   int     // rows of the views' table of facts
	TPCH    float64 // scale factor
	Earlier string  // the commit, or a directory with its sources, that this one is measured beside
}

func parse(args []string, out io.Writer) (config, error) {
	var c config
	pattern, long := "", false
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&pattern, "run", "", "measure only what matches this `regexp`; see -list")
	flags.BoolVar(&c.List, "list", false, "list the measurements and end")
	flags.BoolVar(&c.JSON, "json", false, "print JSON")
	flags.StringVar(&c.Write, "write", "", "write the report as Markdown into this `file`, too")
	flags.Float64Var(&c.Seconds, "seconds", 2, "how long a turn lasts; shorter than the scheduler's second says little")
	flags.IntVar(&c.Rounds, "rounds", 3, "turns of each side")
	flags.Float64Var(&c.Minutes, "minutes", 1, "how long each measurement over time lasts")
	flags.BoolVar(&long, "long", false, "the same as -minutes 10")
	flags.IntVar(&c.Payload, "payload", 200, "size of a payload in bytes")
	flags.IntVar(&c.Types, "types", 3, "event types, mixed within each statement")
	flags.StringVar(&c.Buffers, "shared-buffers", "1GB", "shared_buffers of the server")
	flags.StringVar(&c.Locale, "locale", "en-US", "ICU locale of the database, whose rules text is compared by; empty: C.UTF-8")
	flags.Float64Var(&c.Backlog, "backlog", 1, "scales how many messages wait before a turn")
	flags.IntVar(&c.Sales, "sales", 1_000_000, "rows of the table that the views read")
	flags.Float64Var(&c.TPCH, "tpch", 0.01, "scale factor of the tables of TPC-H, which have 8.6 million rows at 1")
	flags.StringVar(&c.Earlier, "earlier", "a131fa4a", "`commit`, or directory with its sources, that this one is measured beside")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	if long {
		c.Minutes = 10
	}
	err := c.check(flags.Args())
	if err == nil {
		c.Run, err = regexp.Compile(pattern)
	}
	if err != nil {
		fmt.Fprintln(out, "bench:", err)
	}
	return c, err
}

func (c config) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case c.Seconds <= 0 || c.Rounds < 1 || c.Minutes <= 0 || c.Backlog <= 0:
		return errors.New("-seconds, -rounds, -minutes and -backlog must be positive")
	case c.TPCH < 0.001:
		return errors.New("-tpch must be at least 0.001")
	case c.Sales < 10_000:
		return errors.New("-sales must be at least 10000")
	case c.Payload < minPayload || c.Types < 1:
		return fmt.Errorf("-payload must be at least %d, -types at least 1", minPayload)
	}
	return nil
}

// turn is how long one side is measured before the other has its turn.
func (c config) turn() time.Duration { return time.Duration(c.Seconds * float64(time.Second)) }

// whole is how long a measurement over time takes.
func (c config) whole() time.Duration { return time.Duration(c.Minutes * float64(time.Minute)) }
