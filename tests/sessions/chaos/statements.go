package chaos

import (
	"fmt"
	"math/rand/v2"
)

// maker makes a random statement. Rows are few, so that writers meet.
type maker struct {
	*rand.Rand
	merges bool // the server has MERGE
}

func (m maker) order() int    { return 1 + m.IntN(30) }
func (m maker) customer() int { return 1 + m.IntN(6) }
func (m maker) product() int  { return 1 + m.IntN(5) }
func (m maker) amount() int   { return m.IntN(100) }

// note is a text or null.
func (m maker) note() string {
	if m.IntN(3) == 0 {
		return "null"
	}
	return fmt.Sprintf("'n%d'", m.IntN(4))
}

// number is a small number or null.
func (m maker) number() string {
	if m.IntN(4) == 0 {
		return "null"
	}
	return fmt.Sprint(m.IntN(7))
}

// statement is the next one.
func (m maker) statement() string {
	kinds := []func(maker) string{
		upsertOrder, upsertOrder, addOrders, moreAmount, moreAmount, moveOrder, moveOrder, dropOrder, dropOrder, upsertLine, upsertLine,
		dropLine, moveCustomer, newCustomer, dropCustomer, newPrice, newKind, addEvents, addEvents, dropEvents, changeEvents, twoTables, twoTables,
		renumber, mergeOrders,
	}
	if m.IntN(200) == 0 {
		return []string{"truncate events", "truncate lines", "truncate orders, lines"}[m.IntN(3)]
	}
	return kinds[m.IntN(len(kinds))](m)
}

func upsertOrder(m maker) string {
	return fmt.Sprintf(`insert into orders values (%d, %d, %d, %d, %s) on conflict (id) do update
set amount = excluded.amount, product = excluded.product, note = excluded.note`, m.order(), m.customer(), m.product(), m.amount(), m.note())
}

func addOrders(m maker) string {
	return fmt.Sprintf("insert into orders select i, 1 + i %% 6, %d, i, %s from generate_series(%d, 30) i on conflict do nothing",
		m.product(), m.note(), m.order())
}

func moreAmount(m maker) string {
	return fmt.Sprintf("update orders set amount = (amount + %d) %% 100 where id in (%d, %d)", m.amount(), m.order(), m.order())
}

func moveOrder(m maker) string {
	return fmt.Sprintf("update orders set product = %d, customer = %d, note = %s where id = %d", m.product(), m.customer(), m.note(), m.order())
}

func dropOrder(m maker) string { return fmt.Sprintf("delete from orders where id = %d", m.order()) }

func upsertLine(m maker) string {
	return fmt.Sprintf(`insert into lines select o.id, %d, %s from orders o where o.id in (%d, %d)
on conflict (order_id, no) do update set quantity = excluded.quantity`, 1+m.IntN(3), m.number(), m.order(), m.order())
}

func dropLine(m maker) string {
	return fmt.Sprintf("delete from lines where order_id = %d and no = %d", m.order(), 1+m.IntN(3))
}

func moveCustomer(m maker) string {
	return fmt.Sprintf("update customers set region = %s where id = %d", m.number(), m.customer())
}

func newCustomer(m maker) string {
	return fmt.Sprintf("insert into customers values (%d, %s, 'new') on conflict do nothing", m.customer(), m.number())
}

func dropCustomer(m maker) string {
	return fmt.Sprintf("delete from customers where id = %d", m.customer())
}

func newPrice(m maker) string {
	return fmt.Sprintf("update products set price = %d.25 where id = %d", m.amount(), m.product())
}

func newKind(m maker) string {
	return fmt.Sprintf("update products set kind = 'k%d' where id in (%d, %d)", m.IntN(3), m.product(), m.product())
}

func addEvents(m maker) string {
	return fmt.Sprintf("insert into events select %s, %s from generate_series(1, %d)", m.note(), m.number(), 1+m.IntN(3))
}

func dropEvents(m maker) string {
	return fmt.Sprintf("delete from events where ctid = any (array(select ctid from events where kind is not distinct from %s limit 4))", m.note())
}

func changeEvents(m maker) string {
	return fmt.Sprintf("update events set kind = %s, n = n + 1 where n = %d", m.note(), m.IntN(7))
}

// twoTables changes two sources in one statement.
func twoTables(m maker) string {
	if m.IntN(2) == 0 {
		return fmt.Sprintf(`with c as (update customers set region = %s where id = %d returning id)
update orders o set amount = (o.amount + 7) %% 100 from c where o.customer = c.id and o.id < 10`, m.number(), m.customer())
	}
	return fmt.Sprintf(`with p as (update products set price = price + 1 where id = %d returning id),
e as (insert into events values (%s, %s))
insert into orders select %d, %d, p.id, %d, null from p on conflict (id) do update set product = excluded.product, amount = excluded.amount`,
		m.product(), m.note(), m.number(), m.order(), m.customer(), m.amount())
}

// renumber deletes an order and inserts it under another number in one statement.
func renumber(m maker) string {
	return fmt.Sprintf(`with gone as (delete from orders where id = %d returning *)
insert into orders select 31 + id %% 5, customer, product, amount, note from gone on conflict (id) do update set amount = excluded.amount`, m.order())
}

func mergeOrders(m maker) string {
	if !m.merges {
		return moveOrder(m)
	}
	return fmt.Sprintf(`merge into orders o using (values (%d, %d), (%d, %d)) v (id, amount) on o.id = v.id
when matched and v.amount > 70 then delete
when matched then update set amount = v.amount
when not matched then insert values (v.id, %d, %d, v.amount, %s)`, 1+m.IntN(15), m.amount(), 16+m.IntN(15), m.amount(), m.customer(), m.product(), m.note())
}
