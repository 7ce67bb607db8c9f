//go:build browser

package ui

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// images is where TestImages puts the pictures of the documentation.
var images = flag.String("images", "", "`directory` to write pictures of the page to")

// mostBytes is how large a picture of the documentation may be.
const mostBytes = 200_000

const picturedSpec = `
version: 1
extension: {name: shop, version: 1.2.0}
schema: [schema.sql]
inboxes:
  - {name: order_events}
  - {name: payments, max_retries: 1}
outboxes:
  - {name: shop_events}
consumer_groups:
  - {name: shipping, outbox: shop_events, auto_offset_reset: earliest}
  - {name: billing, outbox: shop_events, auto_offset_reset: earliest}
stream_tables:
  - name: public.revenue
    schedule: 1s
    outbox: true
    query: |
      select c.region, sum(o.amount) as revenue, count(*) as orders
      from orders o join customers c on c.id = o.customer_id
      group by c.region
  - name: public.large_orders
    refresh_mode: immediate
    query: |
      select id, customer_id, amount from orders where amount > 90
`

const picturedDDL = `create table customers (id int primary key, region text not null);
create table orders (id int primary key generated always as identity, customer_id int not null references customers, amount numeric not null);
`

// traffic is what happens in the shop in a moment.
const traffic = `
	select pgtrickle.inbox_receive('order_events', 'o-' || clock_timestamp() || i, 'order.placed', '{}') from generate_series(1, 3 + (random() * 9)::int) i;
	select pgtrickle.inbox_mark_processed('order_events', array(select event_id from pgtrickle.inbox_pending('order_events', (random() * 14)::int)));
	insert into orders (customer_id, amount) select 1 + (random() * 11)::int, (random() * 100)::int from generate_series(1, 5);
	select pgtrickle.outbox_publish('shop_events', 'order.placed', '{}', 'A-' || i) from generate_series(1, 2 + (random() * 6)::int) i;`

// consumption reads the outbox as consumers do.
const consumption = `
	select from pgtrickle.poll_outbox('shipping', 'worker-1', 100);
	select pgtrickle.commit_offset('shipping', 'worker-1', (select max(id) from pgtrickle.outbox_shop_events));
	select from pgtrickle.poll_outbox('billing', 'worker-1', 2)`

// TestImages takes pictures of a page with traffic, as the documentation has them.
func TestImages(t *testing.T) {
	pgtest.Parallel(t)
	db := pgtest.DB(t)
	for _, statement := range []string{
		picturedDDL + installed.Over(t, picturedSpec, picturedDDL).Install("plain"),
		"call pgtrickle_internal.pgt_fill()",
		"insert into customers select i, (array['north', 'south', 'west'])[1 + i % 3] from generate_series(1, 12) i",
		`select pgtrickle.inbox_receive('payments', 'p-' || i, 'payment.captured', jsonb_build_object('payment', 'p-' || i, 'amount', 10 * i)) from generate_series(1, 4) i`,
		"select pgtrickle.inbox_mark_failed('payments', 'p-2', 'order A-17 does not exist')",
		"select pgtrickle.inbox_mark_processed('payments', array['p-1', 'p-3', 'p-4'])",
	} {
		db.Exec(t, statement)
	}
	b := open(t, start(t, db.DSN()))
	b.run(chromedp.EmulateViewport(1280, 960))
	b.shows("#title", "shop 1.2.0")
	for until := time.Now().Add(15 * time.Second); time.Now().Before(until); time.Sleep(300 * time.Millisecond) {
		db.Exec(t, traffic)
		db.Exec(t, consumption)
		db.Exec(t, "call pgtrickle.tick()")
	}
	b.shows("#problem-list", "none")
	b.shows("#groups", "1 of 1 alive")
	for name, scheme := range map[string]string{"ui.png": "light", "ui-dark.png": "dark"} {
		b.colors(scheme)
		picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if len(picture) < 10_000 || len(picture) > mostBytes {
			t.Errorf("%s has %d bytes, of at most %d", name, len(picture), mostBytes)
		}
		if *images == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(*images, name), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
