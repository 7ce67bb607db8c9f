package ui

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

const (
	mostBody = 1 << 20 // bytes of a request for an action
	mostIDs  = 1000    // of dead letters that are replayed or discarded at once
)

// target is what an action is for: an inbox or a group, and of its dead letters those that are replayed or discarded.
type target struct {
	Inbox string   `json:"inbox"`
	Group string   `json:"group"`
	IDs   []string `json:"ids"`
}

// acting calls an action if the page of this server asks for it.
func acting(body func(context.Context, target) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || media != "application/json" || r.Header.Get(action) == "" || !isOwn(r) {
			fail(w, http.StatusForbidden, "only the page of this server may ask for actions")
			return
		}
		var t target
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&t); err != nil || (t.Inbox == "") == (t.Group == "") {
			fail(w, http.StatusBadRequest, "give an inbox or a group")
			return
		}
		// What has begun is done also if the visitor goes away.
		result, err := body(context.WithoutCancel(r.Context()), t)
		if err != nil {
			failAs(w, err)
			return
		}
		write(w, http.StatusOK, result)
	}
}

func (s *Server) replay(ctx context.Context, t target) (any, error) {
	if len(t.IDs) == 0 || len(t.IDs) > mostIDs {
		return nil, live.Refusal{Message: "give the ids of dead letters, 1000 at most"}
	}
	replay, name := s.session.Replay, t.Inbox
	if t.Group != "" {
		replay, name = s.session.ReplayGroup, t.Group
	}
	count, err := replay(ctx, name, t.IDs)
	s.latest.forget()
	s.log.Info("replay", "inbox", t.Inbox, "group", t.Group, "asked", len(t.IDs), "replayed", count, "failed", err != nil)
	return map[string]any{"replayed": count}, err
}

// discard deletes dead letters of a group.
func (s *Server) discard(ctx context.Context, t target) (any, error) {
	if t.Group == "" || len(t.IDs) == 0 || len(t.IDs) > mostIDs {
		return nil, live.Refusal{Message: "give a group and the ids of dead letters, 1000 at most"}
	}
	count, err := s.session.DiscardGroup(ctx, t.Group, t.IDs)
	s.latest.forget()
	s.log.Info("discard", "group", t.Group, "asked", len(t.IDs), "discarded", count, "failed", err != nil)
	return map[string]any{"discarded": count}, err
}

func (s *Server) pause(ctx context.Context, t target, pause bool) (any, error) {
	set, name := s.session.PauseInbox, t.Inbox
	if t.Group != "" {
		set, name = s.session.PauseGroup, t.Group
	}
	err := set(ctx, name, pause)
	s.latest.forget()
	s.log.Info("pause", "inbox", t.Inbox, "group", t.Group, "pause", pause, "failed", err != nil)
	return map[string]any{"paused": pause}, err
}
