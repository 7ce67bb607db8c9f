package objects

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/render"
)

// journalNumbers adds what numbers the messages of an inbox that is a journal, before its table.
func (b *builder) journalNumbers(i render.Inbox) {
	b.add("inbox/sequence_no.sql", i, dumped, withoutDefault(i.Table, "sequence_no"), resumes(fmt.Sprintf(
		"select setval(%s, (select coalesce(max(r.sequence_no), 0) + 1 from %s r), false);\n", i.Journal.Sequence.Regclass(), i.Table)))
	b.addStatement("grant", "public: "+i.Journal.Sequence.String(), "inbox/sequence_no_grant.sql", i, "")
}

// journal adds the indexes of an inbox that is a journal, and what notes when a message changed.
func (b *builder) journal(i render.Inbox) {
	if i.Journal.PayloadIndex.Name != "" {
		b.add("inbox/payload_index.sql", i)
	}
	if i.Journal.CoveringIndex.Name != "" {
		b.add("inbox/covering_index.sql", i)
	}
	b.add("inbox/journal_trigger.sql", i)
}
