package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Load reads and checks a configuration. It is fit for use only if the list is empty.
func Load(path string) (*Relay, *diag.List) {
	relay, errs := &Relay{}, &diag.List{}
	if spec.LoadDocument(path, "the configuration", relay, expand, errs) {
		relay.check(errs)
	}
	return relay, errs
}

var reference = regexp.MustCompile(`\$(\$|\{([^}]*)\})`)

// expand replaces ${NAME} by an environment variable, ${NAME:-text} by text where that is not set, ${file:PATH} by what a file holds, without a newline at
// its end, and $$ by $.
func expand(text string) (expanded string, err error) {
	expanded = reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		value, problem := resolve(found[2 : len(found)-1])
		if problem != nil {
			err = problem
		}
		return value
	})
	return expanded, err
}

func resolve(name string) (string, error) {
	if path, isFile := strings.CutPrefix(name, "file:"); isFile {
		content, err := os.ReadFile(path)
		return strings.TrimRight(string(content), "\r\n"), err
	}
	name, otherwise, hasOther := strings.Cut(name, ":-")
	value, isSet := os.LookupEnv(name)
	switch {
	case value != "":
		return value, nil
	case hasOther:
		return otherwise, nil
	case isSet:
		return "", fmt.Errorf("environment variable %s is empty", name)
	}
	return "", fmt.Errorf("environment variable %s is not set", name)
}
