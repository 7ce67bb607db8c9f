// Command brief reads what go test -json writes and prints one line for each package, and at most 200 lines for each test that failed. It fails if
// one did.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	failed, err := summarize(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

// name distinguishes tests, and the output of a package outside of any.
type name struct{ pkg, test string }

// summarize prints what happened. What is no event, such as a word of the go command's own, is printed as it is.
func summarize(in io.Reader, out io.Writer) (failed bool, err error) {
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
