package ui

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

// fresh is how long a status is shown to others who ask for it, too.
const fresh = 500 * time.Millisecond

// status is what /api/status returns.
type status struct {
	*live.Status
	Flow    string    `json:"flow"` // a picture
	Actions bool      `json:"actions"`
	ReadAt  time.Time `json:"read_at"`
}

// latest is the status that was read last.
type latest struct {
	mu     sync.Mutex
	status status
}

// forget has the next visitor see what an action did.
func (l *latest) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status{}
}

func (s *Server) handler() http.Handler {
	paths := http.NewServeMux()
	paths.HandleFunc("GET /{$}", s.page)
	paths.HandleFunc("GET /api/status", answer(s.status))
	paths.HandleFunc("GET /api/dead-letters", answer(s.deadLetters))
	paths.HandleFunc("GET /api/explain", answer(s.explain))
	paths.HandleFunc("GET /api/history", answer(s.history))
	if s.options.Actions {
		paths.HandleFunc("POST /api/replay", acting(s.replay))
		paths.HandleFunc("POST /api/discard", acting(s.discard))
		paths.HandleFunc("POST /api/pause", acting(func(ctx context.Context, t target) (any, error) { return s.pause(ctx, t, true) }))
		paths.HandleFunc("POST /api/resume", acting(func(ctx context.Context, t target) (any, error) { return s.pause(ctx, t, false) }))
	}
	return s.guard.wrap(paths, s.public())
}

// answer writes what a function returns as JSON.
func answer(body func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		result, err := body(r)
		if err != nil {
			failAs(w, err)
			return
		}
		write(w, http.StatusOK, result)
	}
}

func write(w http.ResponseWriter, code int, result any) {
	text, err := json.Marshal(result)
	if err != nil {
		code, text = http.StatusInternalServerError, []byte(`{"error":"the result is no JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n'))
}

// failure is the result of what could not be done.
type failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	Kind  string `json:"kind,omitempty"`
}

func fail(w http.ResponseWriter, code int, message string) {
	write(w, code, failure{Error: message})
}

// failAs says what may be shown of an error.
func failAs(w http.ResponseWriter, err error) {
	code := http.StatusUnprocessableEntity
	kind, message, hint := live.Described(err)
	switch kind {
	case live.Unreachable:
		code = http.StatusServiceUnavailable
	case live.Forbidden:
		code = http.StatusForbidden
	case live.Unknown:
		code = http.StatusNotFound
	}
	write(w, code, failure{message, hint, string(kind)})
}

func (s *Server) status(r *http.Request) (any, error) {
	s.latest.mu.Lock()
	defer s.latest.mu.Unlock()
	if time.Since(s.latest.status.ReadAt) < fresh {
		return s.latest.status, nil
	}
	found, flow, err := s.session.Status(r.Context())
	if err != nil {
		return nil, err
	}
	s.latest.status = status{found, draw(found, flow), s.options.Actions, time.Now()}
	return s.latest.status, nil
}

// letters are the dead letters of an inbox or of a consumer group. There are more if Most are listed.
type letters struct {
	Letters []live.DeadLetter `json:"dead_letters"`
	Most    int               `json:"most"`
}

func (s *Server) deadLetters(r *http.Request) (any, error) {
	q := r.URL.Query()
	inbox, group, id := q.Get("inbox"), q.Get("group"), q.Get("id")
	switch {
	case (inbox == "") == (group == ""):
		return nil, live.Refusal{Message: "give inbox or group", Hint: "/api/dead-letters?inbox=NAME lists dead letters, and with &id=ID shows one"}
	case q.Has("id") && inbox != "":
		return s.session.InboxDeadLetter(r.Context(), inbox, id)
	case q.Has("id"):
		return s.session.GroupDeadLetter(r.Context(), group, id)
	}
	list := s.session.InboxDeadLetters
	if inbox == "" {
		list = s.session.GroupDeadLetters
	}
	found, err := list(r.Context(), inbox+group)
	return letters{found, live.MostDeadLetters}, err
}

func (s *Server) explain(r *http.Request) (any, error) {
	lines, err := s.session.Explain(r.Context(), r.URL.Query().Get("name"))
	return map[string]any{"lines": lines}, err
}

// history is that of a stream table's refreshes, or without a name that of versions.
func (s *Server) history(r *http.Request) (any, error) {
	name := r.URL.Query().Get("name")
	if name == "" {
		return s.session.History(r.Context())
	}
	refreshes, err := s.session.Refreshes(r.Context(), name)
	return map[string]any{"refreshes": refreshes}, err
}
