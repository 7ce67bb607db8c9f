package spec

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/pgsluice/sluice/ivm/diag"
)

// ofRuntime has one of each kind, by which an extension gets each module of the runtime.
const ofRuntime = `
version: 1
extension: {name: %s, version: 0.0.0, schema: %s, imperative: true}
inboxes: [{name: any_inbox, wire_format: debezium}]
outboxes: [{name: any_outbox}]
stream_tables: [{name: any_stream_table, query: select id from any_table}]
`

// OfRuntime is a spec whose extension, of this name and in this schema, has the whole runtime.
func OfRuntime(extension, schema string) (*Spec, *diag.List) {
	errs := &diag.List{}
	s := &Spec{DDL: []diag.Block{{File: "ddl", Text: "create table public.any_table (id int primary key);"}}}
	setDefaults(reflect.ValueOf(s).Elem())
	if part, ok := parseText("runtime", fmt.Sprintf(ofRuntime, strconv.Quote(extension), strconv.Quote(schema)), errs); ok {
		s.merge(part, errs)
	}
	s.complete()
	s.validate(errs)
	return s, errs
}
