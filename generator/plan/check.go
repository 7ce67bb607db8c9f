package plan

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// KnownByServer are the codes of errors that something does not exist, which a database may have all the same.
var KnownByServer = []string{"unknown-table", "unknown-function", "unknown-operator", "unknown-type"}

// Check reports errors in the queries of a spec that has other errors, so that one run reports them all.
func Check(s *spec.Spec) *diag.List {
	errs := &diag.List{}
	rest, whole := s.Readable()
	compileViews(rest, errs)
	endsQuotes(rest, errs)
	checkExpressions(rest, errs)
	if !whole {
		return errs.Without(KnownByServer...)
	}
	return errs
}

// CheckReading is Check without errors about what a database may have that DDL files do not.
func CheckReading(s *spec.Spec) *diag.List { return Check(s).Without(KnownByServer...) }

func checkExpressions(s *spec.Spec, errs *diag.List) {
	for n := range s.Inboxes {
		i := &s.Inboxes[n]
		if i.EventID != "" {
			if err := sqltext.CheckExpression(i.EventID); err != nil {
				errs.Add(badExpression(i.Field("event_id"), "event_id", err))
			}
		}
		if i.Journal != nil && i.Journal.Tag != "" {
			if err := sqltext.CheckExpression(i.Journal.Tag); err != nil {
				errs.Add(badExpression(i.Journal.Field("tag"), "tag", err))
			}
		}
	}
}

// quoteTags are the dollar quotes that bodies of generated code stand in.
var quoteTags = []string{"$function$", "$procedure$", "$do$", "$sql$"}

// endsQuotes reports names and expressions that would end a dollar quote of generated code.
func endsQuotes(s *spec.Spec, errs *diag.List) {
	report := func(at diag.Pos, what, text string) {
		for _, tag := range quoteTags {
			if strings.Contains(text, tag) {
				errs.Add(diag.Error{
					Pos: at, Code: "bad-name",
					Message: fmt.Sprintf("%s holds %s, which quotes generated code", what, tag),
					Hint:    "write it without",
				})
			}
		}
	}
	report(s.Extension.Field("schema"), "schema", s.Extension.Schema)
	roles := func(r *spec.Roles) {
		for _, role := range r.ByField() {
			report(r.Field(role.Field), "role "+role.Field, role.Name)
		}
	}
	roles(&s.Roles)
	for n := range s.Outboxes {
		roles(&s.Outboxes[n].Roles)
	}
	for n := range s.StreamTables {
		t := &s.StreamTables[n]
		report(t.Field("name"), "stream table name", t.Name)
		report(t.Query.At, "the query", t.Query.Text)
		if t.Outbox != nil {
			roles(&t.Outbox.Roles)
		}
	}
	for _, o := range s.Outboxes {
		report(o.Field("name"), "outbox name", o.Name)
	}
	for _, g := range s.ConsumerGroups {
		report(g.Field("name"), "consumer group name", g.Name)
	}
	for n := range s.Inboxes {
		i := &s.Inboxes[n]
		report(i.Field("name"), "inbox name", i.Name)
		report(i.Field("schema"), "schema", i.Schema)
		report(i.Field("event_id"), "event_id", i.EventID)
		if i.Journal != nil {
			report(i.Journal.Field("tag"), "tag", i.Journal.Tag)
		}
		report(i.Field("table"), "table", i.Table)
		report(i.Field("tenant"), "the tenant's column", i.Tenant)
		for _, column := range i.Columns.Named() {
			report(column.At, "column "+column.Field, column.Name)
		}
		roles(&i.Roles)
		if o := i.Ordering; o != nil {
			report(o.Field("sequence"), "the sequence's name", o.Sequence)
		}
		if p := i.Priority; p != nil {
			report(p.Field("column"), "the column's name", p.Column)
			for _, entry := range p.Map {
				report(entry.At, "the value", entry.Value)
			}
			for _, tier := range p.Tiers {
				report(tier.Field("name"), "tier name", tier.Name)
			}
		}
	}
}
