package spec

import (
	"bytes"
	"errors"
	"io"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/ivm/diag"
)

// parseFile reads one file; ok is false if it holds no fields at all.
func parseFile(file string, errs *diag.List) (part *Spec, ok bool) {
	content, err := readText(file)
	if err != nil {
		errs.Add(unreadable(diag.Pos{File: file}, file, err))
		return nil, false
	}
	return parseText(file, content, errs)
}

func parseText(file, content string, errs *diag.List) (part *Spec, ok bool) {
	errs.AddSource(file, content)
	root, ok := parseYAML(file, []byte(content), errs)
	if !ok {
		return nil, false
	}
	part = &Spec{}
	d := &decoder{file: file, source: content, errs: errs}
	d.root(root, reflect.ValueOf(part).Elem(), "the spec")
	return part, root.Kind == yaml.MappingNode
}

// parseYAML returns the root of a file that holds exactly one document.
func parseYAML(file string, content []byte, errs *diag.List) (root *yaml.Node, ok bool) {
	if conflict, is := conflictAt(file, string(content)); is {
		errs.Add(conflict)
		return nil, false
	}
	if bad, is := badCharacter(file, string(content), isYAMLControl); is {
		errs.Add(bad)
		return nil, false
	}
	var document, second yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(content))
	switch err := in.Decode(&document); {
	case errors.Is(err, io.EOF):
		errs.Add(emptyFile(file))
		return nil, false
	case err != nil:
		errs.Add(yamlSyntaxError(file, content, err))
		return nil, false
	}
	switch err := in.Decode(&second); {
	case err == nil:
		errs.Add(secondDocument(diag.Pos{File: file, Line: second.Content[0].Line, Col: second.Content[0].Column}))
	case !errors.Is(err, io.EOF):
		errs.Add(yamlSyntaxError(file, content, err))
		return nil, false
	}
	return document.Content[0], true
}

// syntaxLine returns the line, from 1, at which a text stops being YAML: the one after the longest run of lines that still is.
// (The library names the line on which the enclosing construct began.)
func syntaxLine(content []byte) int {
	for end := len(content); end > 0; {
		end = bytes.LastIndexByte(content[:end-1], '\n') + 1
		var node yaml.Node
		if yaml.Unmarshal(content[:end], &node) == nil {
			return bytes.Count(content[:end], []byte("\n")) + 1
		}
	}
	return 1
}
