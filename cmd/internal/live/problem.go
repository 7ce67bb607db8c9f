package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Problem is something that is wrong with an extension, and what to do about it.
type Problem struct {
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// idleSeconds is how long background work may be silent: its rarest task is due once a minute.
const idleSeconds = 180

// problems describes what somebody should look after.
func (s *Status) problems() []Problem {
	problems := s.idle()
	for _, t := range s.StreamTables {
		problems = append(problems, s.ofStreamTable(t)...)
	}
	for _, i := range s.Inboxes {
		problems = append(problems, s.ofInbox(i)...)
	}
	for _, o := range s.Outboxes {
		if o.AdvancedAt != nil {
			problems = append(problems, Problem{
				fmt.Sprintf("the sequence of outbox %s was behind: at id %d, when groups had been granted up to %d; a tick advanced it at %s, and groups get the %s published meanwhile",
					o.Name, *o.AdvancedFrom, *o.AdvancedTo, o.AdvancedAt.Format(time.DateTime), diag.Count(*o.CameLate, "event")),
				"a failover by logical replication carries no sequences; this is shown for a day"})
		}
		if o.Storage != "ok" {
			problems = append(problems, Problem{
				fmt.Sprintf("outbox %s takes %d MB on disk", o.Name, o.TotalBytes>>20),
				"look for groups that do not keep up; setting outbox_storage_critical_mb says how much is too much"})
		}
	}
	for _, g := range s.Groups {
		problems = append(problems, s.ofGroup(g)...)
	}
	for _, g := range s.Gaps {
		problems = append(problems, ofGap(g)...)
	}
	for _, t := range s.Tasks {
		switch {
		case t.LastError == nil:
		case strings.Contains(*t.LastError, " differs from its query: "):
			problems = append(problems, Problem{*t.LastError, MendHint(s.Extension.Schema)})
		default:
			problems = append(problems, Problem{fmt.Sprintf("task %q failed: %s", t.Task, *t.LastError), "it is tried again with the next tick"})
		}
	}
	return problems
}

// idle reports that nothing ticks.
func (s *Status) idle() []Problem {
	if len(s.Tasks) == 0 {
		return nil
	}
	hint := "keep \"sluice run\" running, or install the pg_cron job of out/" + s.Extension.Name + "/jobs"
	var latest *float64
	for _, t := range s.Tasks {
		if t.AgeSec != nil && (latest == nil || *t.AgeSec < *latest) {
			latest = t.AgeSec
		}
	}
	switch {
	case latest == nil:
		return []Problem{{"background work has never run", hint}}
	case *latest > idleSeconds:
		return []Problem{{fmt.Sprintf("background work last ran %s ago", Age(latest)), hint}}
	}
	return nil
}

func (s *Status) ofStreamTable(t StreamTableStatus) []Problem {
	why := ""
	if t.LastError != nil {
		why = ": " + *t.LastError
	}
	switch t.Status {
	case "suspended":
		return []Problem{{fmt.Sprintf("stream table %s is suspended%s", t.Name, why), "remove the cause, then " + s.call("resume_stream_table", t.Name)}}
	case "failing":
		hint := "it is tried again when it is due"
		if t.Errors > 1 { // a single one may be a source's, of which any number suspends nothing
			hint += "; the third error in a row suspends it"
		}
		return []Problem{{fmt.Sprintf("stream table %s is failing%s", t.Name, why), hint}}
	case "stale":
		return []Problem{{fmt.Sprintf("stream table %s is stale%s", t.Name, why), "it goes on by itself once what it comes from does"}}
	case "initializing":
		return []Problem{{fmt.Sprintf("stream table %s is not filled", t.Name), "the next tick fills it, or " + s.call("refresh_stream_table", t.Name)}}
	}
	return nil
}

func (s *Status) ofInbox(i InboxStatus) []Problem {
	var problems []Problem
	if i.Paused {
		problems = append(problems, Problem{fmt.Sprintf("inbox %s is paused", i.Name), s.call("resume_inbox", i.Name)})
	}
	if i.Quarantined != nil && *i.Quarantined > 0 {
		problems = append(problems, Problem{
			fmt.Sprintf("inbox %s has %s in quarantine", i.Name, diag.Count(*i.Quarantined, "document")),
			fmt.Sprintf("pgt_inbox_quarantine has the reasons, and inbox_retry_quarantined(%s) decodes them again", sqltext.Literal(i.Name))})
	}
	if i.Health == "healthy" {
		return problems
	}
	message := fmt.Sprintf("inbox %s is %s: %d pending, %s", i.Name, i.Health, i.Pending, diag.Count(i.DeadLetters, "dead letter"))
	var hints []string
	if i.Pending > 0 {
		hints = append(hints, "its workers do not keep up, or there are none")
	}
	if i.DeadLetters > 0 {
		hints = append(hints, fmt.Sprintf("dead letters have their error, and replay_inbox_messages(%s, …) retries them", sqltext.Literal(i.Name)))
	}
	return append(problems, Problem{message, strings.Join(hints, "; ")})
}

func (s *Status) ofGroup(g GroupStatus) []Problem {
	var problems []Problem
	if g.Paused {
		problems = append(problems, Problem{fmt.Sprintf("consumer group %s is paused", g.Name), s.call("resume_group", g.Name)})
	}
	if g.HeldBy != nil {
		problems = append(problems, Problem{
			fmt.Sprintf("consumer group %s is held by another poll: %s, for %s; polls of others fail", g.Name, *g.HeldBy, Age(g.HeldSeconds)),
			"commit right after poll_outbox; set idle_in_transaction_session_timeout; " + end(*g.HeldBy)})
	}
	if g.Lag > 0 && g.Healthy == 0 {
		problems = append(problems, Problem{
			fmt.Sprintf("consumer group %s is %s behind, and none of its consumers was heard of within a minute", g.Name, diag.Count(g.Lag, "row")),
			"start its consumers, or " + s.call("drop_consumer_group", g.Name)})
	}
	if g.DeadLetters > 0 {
		problems = append(problems, Problem{
			fmt.Sprintf("consumer group %s has %s", g.Name, diag.Count(g.DeadLetters, "dead letter")),
			fmt.Sprintf("pgt_consumer_dead_letters has their errors; replay_dead_letters(%[1]s) retries them, discard_group_dead_letters(%[1]s) deletes them", sqltext.Literal(g.Name))})
	}
	return problems
}

// end is the statement that ends a transaction, which is that of a session, as in "pid 42", or prepared.
func end(holder string) string {
	if pid, ok := strings.CutPrefix(holder, "pid "); ok {
		return "select pg_terminate_backend(" + pid + ");"
	}
	return "rollback " + strings.Replace(holder, "transaction ", "", 1) + ";"
}

// openSeconds is how long a publisher may stay open before somebody should look at it: retention, and events of the keys that it has published, wait for it.
const openSeconds = 60

func ofGap(g GapStatus) []Problem {
	if g.AgeSec == nil || *g.AgeSec < openSeconds {
		return nil
	}
	if g.Caches {
		return []Problem{{
			fmt.Sprintf("outbox %s waits for ids from %d on: %s", g.Outbox, g.FirstID, g.Holder()),
			"its sequence caches ids, which the next tick switches off"}}
	}
	hint := "let it commit or roll back"
	switch {
	case g.GID != nil:
		hint = fmt.Sprintf("commit prepared %[1]s; or rollback prepared %[1]s;", sqltext.Literal(*g.GID))
	case g.PID != nil:
		hint = fmt.Sprintf("let it commit, or select pg_terminate_backend(%d);", *g.PID)
	}
	return []Problem{{fmt.Sprintf("outbox %s waits for ids from %d on: %s has published to it and is open for %s", g.Outbox, g.FirstID, g.Holder(), Age(g.AgeSec)), hint}}
}

// call is the statement that calls a function of the extension with a name.
func (s *Status) call(function, name string) string {
	return fmt.Sprintf("select %s(%s);", sqltext.Qualified(s.Extension.Schema, function), sqltext.Literal(name))
}

// Age writes seconds for people, in a unit that fits.
func Age(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	d := time.Duration(*seconds * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < 48*time.Hour:
		return d.Round(time.Second).String()
	default:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
}
