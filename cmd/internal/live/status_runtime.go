package live

import (
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
)

// The values of ExtensionStatus.RuntimeText.
const (
	original  = "original"
	altered   = "altered"
	unchecked = "not compared" // another version of Sluice wrote it
)

// alteredQuery finds the functions of $1, by signature, that have another text than $2.
const alteredQuery = `
	select s.signature
	from unnest($1::text[], $2::text[]) s (signature, text)
	join pg_proc p on p.oid = to_regprocedure(s.signature)
	where p.prosrc <> s.text
	order by s.signature`

// runtimes hold what generator.RuntimeFunctions returns, by the names of extension and schema: it takes 0.3 s, and --watch reads a status
// each second.
var runtimes sync.Map

func runtimeFunctions(extension, schema string) (map[string]map[string]string, error) {
	once, _ := runtimes.LoadOrStore([2]string{extension, schema}, sync.OnceValues(func() (map[string]map[string]string, error) {
		return generator.RuntimeFunctions(extension, schema)
	}))
	return once.(func() (map[string]map[string]string, error))()
}

// readRuntime compares the functions of the runtime with those that this Sluice writes. It finds what was written otherwise, not what is missing.
func (s *Status) readRuntime(in reader) error {
	e := &s.Extension
	version, modules, _ := strings.Cut(strings.TrimSuffix(e.Runtime, ")"), " (")
	if version != generator.RuntimeVersion {
		e.RuntimeText = unchecked
		return nil
	}
	texts, err := runtimeFunctions(e.Name, e.Schema)
	if err != nil {
		return err
	}
	var signatures, bodies []string
	for _, module := range strings.Split(modules, ", ") {
		for signature, text := range texts[module] {
			signatures, bodies = append(signatures, signature), append(bodies, text)
		}
	}
	rows, err := in.tx.Query(in.ctx, alteredQuery, signatures, bodies)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	e.RuntimeText = original
	if len(found) > 0 {
		e.RuntimeText = altered
		s.Problems = append(s.Problems, Problem{
			fmt.Sprintf("the runtime is not as Sluice %s wrote it: %s", generator.RuntimeVersion, strings.Join(found, ", ")),
			"\"sluice diff --dsn\" shows how it differs, and \"sluice apply\" makes it again",
		})
	}
	return nil
}
