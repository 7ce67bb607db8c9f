// Command brief runs go test -json and prints one line for each package, and of each test that failed at most 40 lines and how to run it alone. It fails
// if one did. With -times it also prints where the processor time went.
//
//	brief [-times] go test -json …
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	args := os.Args[1:]
	var spent *times
	switch {
	case len(args) > 1 && args[0] == executed:
		os.Exit(execute(args[1:]))
	case len(args) > 1 && args[0] == "-times":
		args = args[1:]
		spent = &times{tests: map[string]float64{}}
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: brief [-times] go test -json …")
		os.Exit(2)
	}
	if err := run(args, spent); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the go command and prints what it says in brief. An error says no more than that tests failed, where that was printed.
func run(args []string, spent *times) error {
	if spent != nil {
		var err error
		if args, err = spent.begin(args); err != nil {
			return err
		}
		defer spent.remove()
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	failed, err := summarize(out, os.Stdout, spent)
	if waited := cmd.Wait(); err == nil && failed {
		err = fmt.Errorf("tests failed")
	} else if err == nil {
		err = waited
	}
	if spent != nil {
		if told := spent.print(os.Stdout, cmd.ProcessState); err == nil {
			err = told
		}
	}
	return err
}

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// name distinguishes tests, and the output of a package outside of any.
type name struct{ pkg, test string }

// summarize prints what happened, and notes how long tests took. What is no event, such as a word of the go command's own, is printed as it is.
func summarize(in io.Reader, out io.Writer, spent *times) (failed bool, err error) {
	said := map[name]*excerpt{}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil:
			fmt.Fprint(out, line)
		case handle(out, said, e):
			failed = true
		}
		if spent != nil {
			spent.took(e)
		}
		if err == io.EOF {
			return failed, nil
		}
		if err != nil {
			return failed, err
		}
	}
}

// handle notes or prints what an event says, and reports whether it is a failure.
func handle(out io.Writer, said map[name]*excerpt, e event) bool {
	key := name{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(out, e.Output)
	case "build-fail":
		return true
	case "output":
		if said[key] == nil {
			said[key] = &excerpt{}
		}
		said[key].add(e.Output)
	case "pass", "skip":
		if e.Test == "" && e.Action == "pass" { // a package without tests is skipped
			fmt.Fprintln(out, line(e, said[key]))
		}
		delete(said, key)
	case "fail":
		if said[key] != nil {
			said[key].print(out)
			delete(said, key)
		}
		if e.Test != "" {
			fmt.Fprintf(out, "    alone: %s\n", alone(e.Package, e.Test))
		}
		if e.Test == "" {
			fmt.Fprintf(out, "FAIL  %7.1fs  %s\n", e.Elapsed, e.Package)
		}
		return true
	}
	return false
}

// line is that of a package whose tests all pass, with what tests say that they did not run.
func line(e event, said *excerpt) string {
	text := fmt.Sprintf("ok    %7.1fs  %s", e.Elapsed, e.Package)
	if said == nil {
		return text
	}
	for _, l := range said.first {
		if strings.HasPrefix(l, "not run: ") {
			text += "\n" + strings.TrimRight(l, "\n")
		}
	}
	return text
}

// alone is the command that runs one test.
func alone(pkg, test string) string {
	parts := strings.Split(test, "/")
	for n, part := range parts {
		parts[n] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return fmt.Sprintf("go test -count=1 -run '%s' %s", strings.Join(parts, "/"), pkg)
}
