package relay

import (
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// noteArrivals has a database write down what inboxes receive, before they drop what they have: a trigger sees a row that then conflicts with another
// one, and what it writes commits with the message.
func noteArrivals(inboxes ...string) string {
	sql := `
		create table arrivals (no bigint generated always as identity, inbox text not null, event_id text not null);
		create function arrived() returns trigger language plpgsql as $$
		begin
			insert into public.arrivals (inbox, event_id) values (tg_table_name, new.event_id);
			return new;
		end $$;`
	for _, inbox := range inboxes {
		sql += fmt.Sprintf("create trigger arrived before insert on pgtrickle.%s for each row execute function arrived();", inbox)
	}
	return sql
}

// duplicates holds that none are left behind the streams and the inboxes, and counts those before. A run of many kills without any has shown nothing.
func (c *chain) duplicates(js jetstream.JetStream) {
	t := c.t
	received, distinct := c.broker.received()
	repeated := 0
	for _, stream := range streams {
		stored := stored(t, js, stream)
		ids := map[string]bool{}
		for _, m := range stored {
			ids[m.Headers().Get(jetstream.MsgIDHeader)] = true
		}
		t.Logf("stream %s: %d messages received, %d of them repeated; %d stored, %d of them repeated",
			stream, received[stream], received[stream]-distinct[stream], len(stored), len(stored)-len(ids))
		if len(ids) != len(stored) {
			t.Errorf("stream %s has %d messages of %d ids", stream, len(stored), len(ids))
		}
		repeated += received[stream] - distinct[stream]
	}
	if repeated == 0 && pgtest.Long() {
		t.Error("no message was published twice")
	}
	repeated = 0
	for _, inbox := range []struct{ database, name string }{{"ledger", "orders"}, {"archive", "paid"}, {"archive", "totals"}} {
		db := pgtest.Connect(t, c.server.DSN(inbox.database))
		received := pgtest.One[int](t, db, "select count(*) from arrivals where inbox = $1", inbox.name)
		distinct := pgtest.One[int](t, db, "select count(distinct event_id) from arrivals where inbox = $1", inbox.name)
		stored := pgtest.One[int](t, db, "select count(*) from pgtrickle."+inbox.name)
		ids := pgtest.One[int](t, db, "select count(distinct event_id) from pgtrickle."+inbox.name)
		t.Logf("inbox %s of %s: %d messages received, %d of them repeated; %d stored, %d of them repeated",
			inbox.name, inbox.database, received, received-distinct, stored, stored-ids)
		if stored != distinct || ids != distinct {
			t.Errorf("inbox %s of %s has %d messages of %d ids, and received %d ids", inbox.name, inbox.database, stored, ids, distinct)
		}
		repeated += received - distinct
	}
	if repeated == 0 && pgtest.Long() {
		t.Error("no message came twice to an inbox")
	}
}
