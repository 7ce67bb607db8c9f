package plan

import (
	"crypto/md5"
	"fmt"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
)

// Stream tables in mode at_commit are those of differential mode that each transaction maintains itself, when it commits.

// checkAtCommit refuses stream tables whose changes no transaction notes for its commit.
func (c *compiler) checkAtCommit(t *spec.StreamTable, view *ivm.Plan) {
	for _, need := range view.Needs {
		for _, other := range c.spec.StreamTables {
			r := need.Table
			if r.Kind == catalog.StreamTable && other.Relation.Schema == r.Schema && other.Relation.Name == r.Name && other.RefreshMode == spec.RefreshImmediate {
				c.errs.Add(notAtCommit(t.Field("refresh_mode"), other.Name))
			}
		}
	}
}

// atCommit reports whether a stream table is in mode at_commit.
func (p *planner) atCommit(n int) bool {
	return p.spec.StreamTables[n].RefreshMode == spec.RefreshAtCommit
}

// commitMark stands for a source in the setting that lists what a transaction wrote. SQL makes it of the source's name, too.
func commitMark(r *catalog.Relation) string {
	return fmt.Sprintf("%x", md5.Sum([]byte(r.Schema+"."+r.Name)))[:12]
}
