package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/ivm/diag"
)

// All messages about the form of a spec: its files, fields and values. Those about its meaning are in errors_meaning.go.

func noSpecs(dir string) diag.Error {
	return diag.Error{Pos: diag.Pos{File: dir}, Code: "no-spec", Message: "no .yaml or .yml file in this directory or its subdirectories",
		Hint: `"sluice init" writes a spec to start from`}
}

func unreadable(at diag.Pos, path string, err error) diag.Error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	e := diag.Error{Pos: at, Code: "unreadable-file", Message: fmt.Sprintf("cannot read %q: %v", path, err)}
	if errors.Is(err, os.ErrNotExist) {
		e.Hint = nearestFile(at, path)
	}
	return e
}

func nearestFile(at diag.Pos, path string) string {
	var names []string
	for _, entry := range readDir(filepath.Dir(path)) {
		names = append(names, entry.Name())
	}
	switch near := diag.Nearest(filepath.Base(path), names); {
	case near != "":
		return didYouMean(near)
	case at.Line > 0 && filepath.Ext(path) == ".sql":
		return "paths are relative to the file that names them; \"sluice schema pull\" writes the DDL of a database there"
	case at.Line > 0:
		return "paths are relative to the file that names them"
	default:
		return `"sluice init" writes a spec to start from`
	}
}

func unknownField(at diag.Pos, name, object string, known []string) diag.Error {
	return diag.Error{Pos: at, Code: "unknown-field", Message: fmt.Sprintf("unknown field %q in %s", name, object),
		Hint: nearestOf(name, known, "its fields are ")}
}

func unknownSetting(at diag.Pos, name string) diag.Error {
	var known []string
	for _, def := range SettingDefs {
		known = append(known, def.Name)
	}
	return diag.Error{Pos: at, Code: "unknown-setting", Message: fmt.Sprintf("unknown setting %q", name),
		Hint: nearestOf(name, known, "settings are ")}
}

func repeatedField(at, first diag.Pos, name, object string) diag.Error {
	return diag.Error{Pos: at, Code: "duplicate-field", Message: fmt.Sprintf("%q is given twice in %s", name, object), Also: firstPlace(first)}
}

func givenTwice(at, first diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "duplicate-field", Message: fmt.Sprintf("%q is given in two files of one spec", name),
		Hint: "the files of a directory make up one spec; keep one of the two", Also: firstPlace(first)}
}

func listedTwice(at, first diag.Pos, file string) diag.Error {
	return diag.Error{Pos: at, Code: "duplicate-file", Message: fmt.Sprintf("%q is listed twice", file), Also: firstPlace(first)}
}

func firstPlace(first diag.Pos) []diag.Note {
	return []diag.Note{{Pos: first, Message: "it was given here first"}}
}

const unresolvedCode = "unresolved-reference"

func unresolved(at diag.Pos, err error) diag.Error {
	return diag.Error{Pos: at, Code: unresolvedCode, Message: err.Error()}
}

func missingField(at diag.Pos, name, object string) diag.Error {
	return diag.Error{Pos: at, Code: "missing-field", Message: fmt.Sprintf("%s has no %q", object, name), Hint: fmt.Sprintf("add %q", name+":")}
}

func wrongType(at diag.Pos, name, expected string, n *yaml.Node) diag.Error {
	e := diag.Error{Pos: at, Code: "wrong-type", Message: fmt.Sprintf("%q must be %s, but this is %s", name, expected, describe(n))}
	switch {
	case name == "version" && n.Tag == "!!float" && expected == expectedText(rules{}):
		e.Hint = fmt.Sprintf("a version has three numbers: %s.0", n.Value)
	case expected == expectedText(rules{}) && n.Kind == yaml.ScalarNode:
		e.Hint = fmt.Sprintf("put it in quotes: %q", n.Value)
	case expected == expectedTruth && yamlOneTruth[strings.ToLower(n.Value)] != "":
		e.Hint = "write " + yamlOneTruth[strings.ToLower(n.Value)]
	case n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		e.Hint = "leave out the quotes"
	}
	return e
}

// noList is at what should be a list; nested where that is one of lists, or in one.
func noList(at diag.Pos, name string, n *yaml.Node, nested bool) diag.Error {
	e := wrongType(at, name, "a list", n)
	if n.Kind == yaml.MappingNode {
		e.Hint = `write a list, whose items begin with "- name:"`
	}
	switch {
	case n.Kind != yaml.ScalarNode:
	case nested:
		e.Hint = fmt.Sprintf("write a list of lists: [[%s]]", n.Value)
	default:
		e.Hint = fmt.Sprintf("write a list: [%s]", n.Value)
	}
	return e
}

func emptyInList(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "missing-value", Message: fmt.Sprintf("%q is an empty list", name),
		Hint: "put something into it, as in [[total], [region, total]], or leave it out"}
}

func emptyID(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "missing-value", Message: fmt.Sprintf("%q is an empty list", name),
		Hint: "name the columns that identify a message, as in [tenant, number]"}
}

func noObject(at diag.Pos, name string, n *yaml.Node, fields []string) diag.Error {
	e := diag.Error{Pos: at, Code: "wrong-type", Message: fmt.Sprintf("%s must be a map of fields, but this is %s", name, describe(n))}
	if n.Kind == yaml.ScalarNode && fields[0] == "name" {
		e.Hint = fmt.Sprintf("write %q", "name: "+n.Value)
	} else {
		e.Hint = "its fields are " + strings.Join(fields, ", ")
	}
	return e
}

const expectedTruth = "true or false"

// yamlOneTruth are words that older YAML took for true and false.
var yamlOneTruth = map[string]string{"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}

// describe says in the user's words what a node is.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return n.Value
	case "!!null":
		return "empty"
	case "!!timestamp":
		return "the date " + n.Value
	default:
		return fmt.Sprintf("the text %q", n.Value)
	}
}

func noValue(at diag.Pos, name, expected string) diag.Error {
	return diag.Error{Pos: at, Code: "missing-value", Message: fmt.Sprintf("%q has no value", name),
		Hint: fmt.Sprintf("give %s, or leave the line out", expected)}
}

func badValue(at diag.Pos, name, value, problem, expected string) diag.Error {
	e := diag.Error{Pos: at, Code: "bad-value", Message: fmt.Sprintf("%q cannot be %q: %s", name, value, problem)}
	if expected != "" {
		e.Hint = "expected " + expected
	}
	return e
}

func notInEnum(at diag.Pos, name, value string, enum []string) diag.Error {
	e := diag.Error{Pos: at, Code: "bad-value", Message: fmt.Sprintf("%q is none of the values of %q: %s", value, name, strings.Join(enum, ", "))}
	if near := diag.Nearest(value, enum); near != "" {
		e.Hint = didYouMean(near)
	}
	return e
}

func emptyText(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "missing-value", Message: fmt.Sprintf("%q is empty", name)}
}

func controlCharacter(at diag.Pos, name, text string) diag.Error {
	return diag.Error{Pos: at, Code: "bad-name", Message: fmt.Sprintf("%q holds a control character: %q", name, text)}
}

func nameTooLong(at diag.Pos, name, text string) diag.Error {
	return diag.Error{Pos: at, Code: "name-too-long", Message: fmt.Sprintf("%q is %d bytes long; PostgreSQL's names have at most %d", name, len(text), MaxNameBytes)}
}

func outOfRange(at diag.Pos, name, value string, r rules) diag.Error {
	return diag.Error{Pos: at, Code: "out-of-range", Message: fmt.Sprintf("%q is %s, but must be %s", name, value, expectedNumber(r))}
}

func foldedComment(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "folded-comment", Message: fmt.Sprintf("YAML joins the lines of this %q, so the comment would not end with its line", name),
		Hint: fmt.Sprintf("write %q and the SQL indented below it", name+": |")}
}

func expectedNumber(r rules) string {
	switch {
	case len(r.enum) == 1:
		return r.enum[0]
	case r.min != nil && r.max != nil:
		return fmt.Sprintf("a whole number from %d to %d", *r.min, *r.max)
	case r.min != nil:
		return fmt.Sprintf("a whole number, at least %d", *r.min)
	default:
		return "a whole number"
	}
}

func expectedText(r rules) string {
	switch {
	case r.enum != nil:
		return "one of " + strings.Join(r.enum, ", ")
	default:
		return "text"
	}
}

func nearestOf(name string, known []string, otherwise string) string {
	near := diag.Nearest(name, known)
	if near == "" {
		near = withWordsOf(name, known)
	}
	if near != "" {
		return didYouMean(near)
	}
	return otherwise + strings.Join(known, ", ")
}

// withWordsOf is the first of names that has all words of another, in their order.
func withWordsOf(name string, known []string) string {
	for _, k := range known {
		rest, all := k, strings.Contains(name, "_")
		for word := range strings.SplitSeq(name, "_") {
			_, after, found := strings.Cut(rest, word)
			rest, all = after, all && found
		}
		if all {
			return k
		}
	}
	return ""
}

func didYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }
