package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/tests/kit/pgtest/spent"
)

// executed is the argument with which the go command has brief run a test binary.
const executed = "-executed"

// times is where processor time goes: to whatever the go command does itself, to test binaries, and to the servers that these start.
type times struct {
	file  string
	tests map[string]float64 // how many seconds each took, beside others
}

// took notes the end of a test that is no part of another.
func (t *times) took(e event) {
	if (e.Action == "pass" || e.Action == "fail") && e.Test != "" && !strings.Contains(e.Test, "/") {
		t.tests[filepath.Base(e.Package)+" "+e.Test] = e.Elapsed
	}
}

// begin has test binaries note their times, in a file that remove deletes.
func (t *times) begin(args []string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "times")
	if err != nil {
		return nil, err
	}
	t.file = file.Name()
	if err := errors.Join(file.Chmod(0o666), file.Close(), os.Setenv(spent.File, t.file)); err != nil {
		return nil, err
	}
	first := 2
	if len(args) > 3 && args[2] == "-C" { // the go command wants it first
		first = 4
	}
	return slices.Insert(slices.Clone(args), first, "-exec="+self+" "+executed), nil
}

func (t *times) remove() { os.Remove(t.file) }

// execute runs a test binary, in the directory of its package, and notes its time with that of its children.
func execute(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	where, _ := os.Getwd()
	spent.Note(spent.Entry{Package: where, On: spent.Binary, Seconds: seconds(cmd.ProcessState)})
	return cmd.ProcessState.ExitCode()
}

func seconds(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }

// print prints three tables: what the time went to, the packages that took most of it, and the tests that took longest.
func (t *times) print(out io.Writer, goCommand *os.ProcessState) error {
	file, err := os.Open(t.file)
	if err != nil {
		return err
	}
	defer file.Close()
	kinds, packages := map[string]float64{}, map[string]float64{}
	lines := bufio.NewScanner(file)
	binaries := 0.0
	for lines.Scan() {
		var e spent.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return err
		}
		if e.On != spent.Binary {
			kinds[e.On] += e.Seconds
			kinds[spent.Binary] -= e.Seconds
			continue
		}
		binaries += e.Seconds
		kinds[spent.Binary] += e.Seconds
		packages[relative(e.Package)] += e.Seconds
	}
	kinds["compiling and linking"] = seconds(goCommand) - binaries
	fmt.Fprintf(out, "\n%.0f s of processor time\n", seconds(goCommand))
	table(out, kinds)
	table(out, packages)
	fmt.Fprintln(out, "\nseconds, beside other tests")
	table(out, t.tests)
	return lines.Err()
}

func relative(dir string) string {
	if root, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(root, dir); err == nil {
			return short
		}
	}
	return dir
}

// table prints what took longest, of that at most 40 lines.
func table(out io.Writer, of map[string]float64) {
	fmt.Fprintln(out)
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return int(of[b]*1000) - int(of[a]*1000) })
	for _, name := range names[:min(len(names), 40)] {
		fmt.Fprintf(out, "%8.1f s  %s\n", of[name], name)
	}
}
