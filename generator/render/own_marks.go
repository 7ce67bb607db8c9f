package render

import (
	"fmt"
	"strconv"
	"strings"
)

// LocalTime is the type of times without a time zone. They are taken as times of UTC.
const LocalTime = "timestamp without time zone"

// inUTC is the conversion between a time and a value of a column without a time zone, in either direction; empty for other columns.
func (i Inbox) inUTC(c ColumnName) string {
	if i.Own == nil || i.Own.shape(c).Type != LocalTime {
		return ""
	}
	return " at time zone 'UTC'"
}

// moment is a column of row a of the table, as a time with a time zone if it holds times.
func (i Inbox) moment(c ColumnName, a string) string {
	if utc := i.inUTC(c); utc != "" {
		return "(" + of(a, c) + utc + ")"
	}
	return of(a, c)
}

// MarkedAt is the time of a mark, as the table holds it.
func (i Inbox) MarkedAt() string {
	if i.Any {
		return "clock_timestamp()" + insertedIf("v_columns #>> '{processed_at,utc}'")
	}
	return "clock_timestamp()" + i.inUTC(i.Columns.ProcessedAt)
}

// MostOfErrors is how many characters of an error the table holds.
const MostOfErrors = 1000

// MarkedError is the text of an error that the table holds: its beginning.
func (i Inbox) MarkedError(text string) string {
	most := fmt.Sprint(MostOfErrors)
	if i.Any {
		most = inserted("v_columns #>> '{error,most}'")
	} else if i.Own != nil {
		most = fmt.Sprint(min(MostOfErrors, i.Own.limitOf(i.Columns.Error)))
	}
	return fmt.Sprintf("left(%s, %s)", text, most)
}

// limitOf is how many characters a column takes.
func (o OwnTable) limitOf(c ColumnName) int {
	_, given, _ := strings.Cut(o.TypeOf(c), "(")
	if limit, err := strconv.Atoi(strings.TrimSuffix(given, ")")); err == nil {
		return limit
	}
	return MostOfErrors
}

// LocalColumns lists the columns of times without a time zone.
func (o OwnTable) LocalColumns() []string {
	var names []string
	for _, s := range o.Shapes {
		if s.Type == LocalTime {
			names = append(names, string(s.Name))
		}
	}
	return names
}
