package watch

import (
	"strings"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

const kept = 60 // looks

// series keeps figures of the last looks, by kind and name.
type series struct {
	at     []time.Time
	values map[string][]float64
}

func newSeries() *series { return &series{values: map[string][]float64{}} }

// add notes the figures of a look.
func (s *series) add(status *live.Status, at time.Time) {
	s.at = append(s.at, at)
	now := map[string]float64{}
	for _, i := range status.Inboxes {
		now["pending "+i.Name], now["processed "+i.Name] = float64(i.Pending), float64(i.Processed)
	}
	for _, g := range status.Groups {
		now["lag "+g.Name] = float64(g.Lag)
	}
	for _, o := range status.Outboxes {
		now["rows "+o.Name] = float64(o.Rows)
	}
	for _, t := range status.StreamTables {
		now["staleness "+t.Name] = value(t.StalenessSeconds)
	}
	for name, v := range now {
		if old := s.values[name]; len(old) == 0 { // it is new: it was the same before, for all that is known
			for range len(s.at) - 1 {
				s.values[name] = append(s.values[name], v)
			}
		}
		s.values[name] = append(s.values[name], v)
	}
	for name := range s.values {
		if _, still := now[name]; !still {
			delete(s.values, name)
		}
	}
	if over := len(s.at) - kept; over > 0 {
		s.at = s.at[over:]
		for name, v := range s.values {
			s.values[name] = v[over:]
		}
	}
}

// rate is by how much a figure grew in a second, over the last ten looks.
func (s *series) rate(name string) float64 {
	v := s.values[name]
	from := max(0, len(v)-11)
	if len(v) < 2 {
		return 0
	}
	seconds := s.at[len(s.at)-1].Sub(s.at[len(s.at)-len(v)+from]).Seconds()
	if seconds <= 0 {
		return 0
	}
	return (v[len(v)-1] - v[from]) / seconds
}

var bars = []rune("▁▂▃▄▅▆▇█")

// line draws a figure over the last looks, from 0 to its highest, in some columns.
func (s *series) line(name string, columns int) string {
	v := s.values[name]
	v = v[max(0, len(v)-columns):]
	highest := 0.0
	for _, x := range v {
		highest = max(highest, x)
	}
	var b strings.Builder
	for _, x := range v {
		bar := 0
		if highest > 0 {
			bar = int(max(0, x) / highest * float64(len(bars)-1))
		}
		b.WriteRune(bars[bar])
	}
	return b.String()
}

func value(number *float64) float64 {
	if number == nil {
		return 0
	}
	return *number
}
