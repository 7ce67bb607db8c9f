package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Refused is a change that no upgrade makes, and what to do instead.
type Refused struct {
	Made          string // what it is about, as the new version calls it
	Message, Hint string
}

func (r Refused) Error() string { return r.Message }

// OtherColumns finds stream tables whose outboxes stay while their columns change: consumers rely on these. The order of columns does not matter,
// as rows are JSON objects.
func OtherColumns(from, to Manifest) []Refused {
	var refused []Refused
	for _, outbox := range to.Made {
		before, stays := identifiedAs(from.Made, outbox.identity())
		if outbox.Kind != "outbox" || !stays || !before.Holds || !outbox.Holds || outbox.Lenient {
			continue
		}
		if message := columnChange(outbox.Name, columnsOf(from, before.Name), columnsOf(to, outbox.Name)); message != "" {
			refused = append(refused, Refused{
				Made: outbox.Name, Message: message,
				Hint: "give the changed stream table a new name and an outbox of its own, and drop the old one when its consumers have moved; or, if all consumers are ready for these columns, " +
					"say outbox: {on_column_change: full_refresh}: they get the whole table again",
			})
		}
	}
	return refused
}

// columnChange says what changes for the consumers of a stream table's outbox; empty if nothing does.
func columnChange(name string, old, new []string) string {
	changes := slices.Concat(lacking(new, old, "no longer %s"), lacking(old, new, "now also %s"))
	if len(changes) == 0 {
		return ""
	}
	return fmt.Sprintf("stream table %s has an outbox, and its columns change: %s. Its consumers would read other rows than before", name, strings.Join(changes, ", "))
}

// guard stops an upgrade that changes the columns of a stream table which was given an outbox at run time: no manifest knows of that. One that
// the older version asked for was compared, or goes.
func (d *differ) guard(was, m Made) string {
	message, state := columnChange(m.Name, was.Columns, m.Columns), sqltext.Ident(d.to.Internal)+".pgt_outbox_state"
	id := "outbox " + strings.TrimPrefix(m.identity(), m.Kind+" ")
	before, _ := identifiedAs(d.from.Made, id)
	outbox, _ := identifiedAs(d.to.Made, id)
	if m.Kind != "stream table" || message == "" || before.Holds || outbox.Lenient || d.kept[state] == "" {
		return ""
	}
	return fmt.Sprintf(`do $do$
begin
    if exists (select from %s s where s.outbox_name = %s) then
        raise exception using
            errcode = '55000',
            message = %s,
            hint = 'disable_outbox drops the outbox with what nobody has consumed; enable_outbox makes it again after the upgrade, with the whole table.';
    end if;
end;
$do$;
`, state, sqltext.Literal(m.Name), sqltext.Literal(message))
}

// columnsOf are the columns of a stream table.
func columnsOf(m Manifest, name string) []string {
	for _, made := range m.Made {
		if made.Kind == "stream table" && made.Name == name {
			return made.Columns
		}
	}
	return nil
}

// lacking says which of some columns others lack.
func lacking(others, some []string, format string) []string {
	var names []string
	for _, name := range some {
		if !slices.Contains(others, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	return []string{fmt.Sprintf(format, strings.Join(names, ", "))}
}
