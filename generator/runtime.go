package generator

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
)

// RuntimeVersion is the version of the runtime that this Sluice writes.
const RuntimeVersion = render.RuntimeVersion

// RuntimeFunctions are the functions of the runtime in an extension of this name and in this schema, by module and signature: what pg_proc.prosrc
// holds.
func RuntimeFunctions(extension, schema string) (map[string]map[string]string, error) {
	s, errs := spec.OfRuntime(extension, schema)
	if !errs.Empty() {
		return nil, fmt.Errorf("the runtime of extension %s in schema %s: %v", extension, schema, errs)
	}
	e, errs := Generate(s)
	if !errs.Empty() {
		return nil, fmt.Errorf("the runtime of extension %s in schema %s: %v", extension, schema, errs)
	}
	return e.RuntimeFunctions(), nil
}
