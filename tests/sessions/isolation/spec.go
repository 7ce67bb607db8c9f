// Package isolation runs steps of several sessions in a given order and
// compares what each step answers with what the case's file says, in the spirit
// of PostgreSQL's isolation tester.
//
// A case is one txtar file:
//
//	What the case shows, in words.
//	-- setup --
//	create table t (n int);
//	-- session alice --
//	setup: set lock_timeout = '10s';
//	step a1: begin;
//	step a2:
//	    update t set n = 1;
//	-- session bob --
//	step b1: update t set n = 2;
//	-- teardown --
//	drop table t;
//	-- permutations --
//	a1 b1 a2
//	b1 a1 a2
//	-- output --
//
// Each permutation gets a fresh database, in which setup runs as its owner. A
// session is a connection of the owner, or with "session alice as ROLE" of that
// role; its application_name is the session's name. A step may have many
// statements; each is sent by itself. The flag -update writes the last section.
package isolation

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// spec is a case as its file says it.
type spec struct {
	archive      *txtar.Archive
	setup        string
	teardown     string
	sessions     []sessionSpec
	steps        map[string]step
	permutations [][]string
	output       string
}

type sessionSpec struct {
	name  string
	role  string // "" for the owner
	setup string
}

type step struct {
	name    string
	session string
	sql     string
}

const (
	outputSection      = "output"
	startOfPermutation = "starting permutation: "
)

// parse reads a case.
func parse(text []byte) (*spec, error) {
	s := &spec{archive: txtar.Parse(text), steps: map[string]step{}}
	for _, file := range s.archive.Files {
		if err := s.section(file.Name, string(file.Data)); err != nil {
			return nil, err
		}
	}
	if len(s.permutations) == 0 {
		return nil, fmt.Errorf("no permutations")
	}
	return s, s.check()
}

func (s *spec) section(name, text string) error {
	switch words := strings.Fields(name); {
	case name == "setup":
		s.setup = text
	case name == "teardown":
		s.teardown = text
	case name == outputSection:
		s.output = text
	case name == "permutations":
		s.permutations = permutations(text)
	case len(words) == 2 && words[0] == "session":
		return s.session(words[1], "", text)
	case len(words) == 4 && words[0] == "session" && words[2] == "as":
		return s.session(words[1], words[3], text)
	default:
		return fmt.Errorf("section %q: want setup, session NAME [as ROLE], teardown, permutations or output", name)
	}
	return nil
}

func permutations(text string) [][]string {
	var all [][]string
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if names := strings.Fields(line); len(names) > 0 {
			all = append(all, names)
		}
	}
	return all
}

var stepStart = regexp.MustCompile(`(?m)^(?:step +([^\s:]+)|setup):`)

func (s *spec) session(name, role, text string) error {
	session := sessionSpec{name: name, role: role}
	marks := stepStart.FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 {
		return fmt.Errorf("session %s has no line `step NAME: SQL`", name)
	}
	if before := strings.TrimSpace(text[:marks[0][0]]); before != "" {
		return fmt.Errorf("session %s: %q stands before the first step", name, before)
	}
	for i, mark := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		sql := strings.TrimSpace(text[mark[1]:end])
		if mark[2] < 0 {
			session.setup = sql
			continue
		}
		stepName := text[mark[2]:mark[3]]
		if _, twice := s.steps[stepName]; twice {
			return fmt.Errorf("step %s is defined twice", stepName)
		}
		s.steps[stepName] = step{stepName, name, sql}
	}
	s.sessions = append(s.sessions, session)
	return nil
}

// check looks for steps that permutations name and no session has, and for
// steps that no permutation names.
func (s *spec) check() error {
	used := map[string]bool{}
	for _, names := range s.permutations {
		for _, name := range names {
			if _, ok := s.steps[name]; !ok {
				return fmt.Errorf("a permutation names step %s, which no session has", name)
			}
			used[name] = true
		}
	}
	for name := range s.steps {
		if !used[name] {
			return fmt.Errorf("no permutation names step %s", name)
		}
	}
	return nil
}

// outputs are what the output says of each permutation.
func (s *spec) outputs() []string {
	parts := strings.Split("\n"+s.output, "\n"+startOfPermutation)[1:]
	for n := range parts {
		parts[n] = startOfPermutation + parts[n]
	}
	return parts
}

// withOutput is the case's file with another output.
func (s *spec) withOutput(output string) []byte {
	files := s.archive.Files[:0:0]
	for _, file := range s.archive.Files {
		if file.Name != outputSection {
			files = append(files, file)
		}
	}
	files = append(files, txtar.File{Name: outputSection, Data: []byte(output)})
	return txtar.Format(&txtar.Archive{Comment: s.archive.Comment, Files: files})
}
