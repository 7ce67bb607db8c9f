package live

import (
	"context"
	"fmt"
	"strconv"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Replay makes dead letters of an inbox pending again; nil are all. It returns how many.
func (s *Session) Replay(ctx context.Context, inbox string, ids []string) (int64, error) {
	return s.act(ctx, func(in reader) error {
		_, _, err := inboxQueries(in, inbox)
		return err
	}, "replay_inbox_messages", inbox, ids)
}

// ReplayGroup gives dead letters back to a consumer group; no ids are all. It returns how many.
func (s *Session) ReplayGroup(ctx context.Context, group string, ids []string) (int64, error) {
	return s.ofGroup(ctx, "replay_dead_letters", group, ids)
}

// DiscardGroup deletes dead letters of a consumer group; no ids are all. It returns how many.
func (s *Session) DiscardGroup(ctx context.Context, group string, ids []string) (int64, error) {
	return s.ofGroup(ctx, "discard_group_dead_letters", group, ids)
}

func (s *Session) ofGroup(ctx context.Context, function, group string, ids []string) (int64, error) {
	var numbers []int64 // nil is null
	for _, id := range ids {
		number, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return 0, NotThere{"dead letter", id}
		}
		numbers = append(numbers, number)
	}
	return s.act(ctx, func(in reader) error { return hasGroup(in, group) }, function, group, numbers)
}

// PauseInbox pauses claims of an inbox, or resumes them.
func (s *Session) PauseInbox(ctx context.Context, inbox string, pause bool) error {
	_, err := s.act(ctx, func(in reader) error {
		_, _, err := inboxQueries(in, inbox)
		return err
	}, either(pause, "pause_inbox", "resume_inbox"), inbox)
	return err
}

// PauseGroup pauses polls of a consumer group, or resumes them.
func (s *Session) PauseGroup(ctx context.Context, group string, pause bool) error {
	_, err := s.act(ctx, func(in reader) error { return hasGroup(in, group) }, either(pause, "pause_group", "resume_group"), group)
	return err
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// act calls a function of the extension in a transaction of its own, if check finds nothing wrong. It returns what the function does, if that is a number.
func (s *Session) act(ctx context.Context, check func(reader) error, function string, args ...any) (count int64, err error) {
	err = s.transaction(ctx, beginReadWrite, func(in reader) error {
		if err := check(in); err != nil {
			return err
		}
		parameters := "$1::text"
		if len(args) > 1 {
			parameters += ", $2"
		}
		var result *string
		call := fmt.Sprintf("select f.result::text from %s(%s) f (result)", sqltext.Qualified(in.schema, function), parameters)
		if err := in.tx.QueryRow(in.ctx, call, args...).Scan(&result); err != nil {
			return err
		}
		if result != nil && *result != "" {
			count, err = strconv.ParseInt(*result, 10, 64)
		}
		return err
	})
	return count, err
}
