// Package watch shows the status of an extension on a terminal, again and again.
//
// Files call downwards: watch, view, series.
package watch

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

const every = time.Second // between two looks

// Run shows what read returns until the user quits, ctx ends, or, unless rounds is 0, it was shown as often. An error of the first look ends it; later ones are
// shown, and it goes on.
func Run(ctx context.Context, in io.Reader, out io.Writer, rounds int, read func() (*live.Status, error)) error {
	first, err := read()
	if err != nil {
		return err
	}
	m := &model{read: read, rounds: rounds, series: newSeries(), width: 80, height: 24}
	m.take(look{status: first, at: time.Now()})
	// Signals end ctx. If the program handled them, too, one that comes twice would block it for ever.
	_, err = tea.NewProgram(m, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithInput(in), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// look is what was read at a time.
type look struct {
	status *live.Status
	err    error
	at     time.Time
}

// model is the state of the display. It implements tea.Model.
type model struct {
	read          func() (*live.Status, error)
	rounds, shown int
	series        *series
	status        *live.Status
	err           error
	at            time.Time
	width, height int
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.next() }

// next looks after a pause.
func (m *model) next() tea.Cmd {
	return tea.Tick(every, func(time.Time) tea.Msg {
		status, err := m.read()
		return look{status, err, time.Now()}
	})
}

// Update implements tea.Model.
func (m *model) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = message.Width, message.Height
	case tea.KeyPressMsg:
		switch message.String() {
		case "q", "esc", "ctrl+c":
			return m, tea.Quit
		}
	case look:
		m.take(message)
		if m.rounds > 0 && m.shown >= m.rounds {
			return m, tea.Quit
		}
		return m, m.next()
	}
	return m, nil
}

// take shows what was read. After an error the last status stays.
func (m *model) take(l look) {
	m.shown++
	m.err, m.at = l.err, l.at
	if l.err == nil {
		m.status = l.status
		m.series.add(l.status, l.at)
	}
}
