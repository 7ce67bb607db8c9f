package upgrade

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Modes of locks that are taken at the beginning.
const (
	againstWriters = "share row exclusive"
	againstClaims  = "exclusive" // lets sessions read, but not claim rows that they write later
	againstAll     = "access exclusive"
)

// lock is one that an upgrade takes at the beginning.
type lock struct {
	relation   string // as SQL; empty for an advisory lock
	mode       string // or the statement that takes the advisory lock
	background bool   // it is waited for 30 times as long as others: only ticks, and refreshes of stream tables, queue behind it
}

// background keeps out ticks and refreshes, which wait for it before they lock anything. They come from the catalog to the tables of users, inboxes and
// outboxes, and other writers from these to the catalog: an upgrade would seldom find both free.
func background(m Manifest) []lock {
	return []lock{{sqltext.Qualified(m.Internal, "pgt_tasks"), againstClaims, true}}
}

// lockSQL takes locks in their order.
func lockSQL(locks []lock) string {
	var rows []string
	listed := map[lock]bool{}
	for _, l := range locks {
		if !listed[l] {
			listed[l] = true
			rows = append(rows, fmt.Sprintf("(%d, %s, %s, %t)", len(rows)+1, sqltext.Literal(l.relation), sqltext.Literal(l.mode), l.background))
		}
	}
	return fmt.Sprintf(lockAll, strings.Join(rows, ",\n                    "))
}

// lockAll passes over what is gone, and tables on which only triggers may be made. It never waits for one lock while it has another for as long as
// the server takes to look for deadlocks: sessions that come to the same relations in another order would be ended by one.
const lockAll = `do $do$
declare
    v_patience int := (select s.setting from pg_catalog.pg_settings s where s.name = 'lock_timeout'); -- ms; 0: no end
    -- The lock that could not be acquired: the next attempt waits for it alone and releases it, the one after it tries all again.
    v_in_vain int;
    v_holds bool;
    v_lock record;
begin
    for v_attempt in 1 .. 200 loop
        begin
            v_holds := false;
            for v_lock in
                select t.*, c.relkind, c.relowner::regrole as owner
                from (values
                    %s
                ) t (no, relation, mode, background)
                left join pg_catalog.pg_class c on c.oid = to_regclass(nullif(t.relation, ''))
                where case
                          when t.relation = '' then true
                          when c.relkind in ('r', 'p') then has_table_privilege(c.oid, 'update, delete, truncate')
                          else pg_has_role(c.relowner, 'usage')
                      end
                  and t.no = coalesce(v_in_vain, t.no)
                order by t.no
            loop
                perform set_config('lock_timeout', case
                    when v_holds then least(nullif(v_patience, 0), 200)
                    when v_lock.background then 30 * v_patience
                    else v_patience
                end::text, true);
                if v_lock.relation = '' then
                    execute v_lock.mode;
                elsif v_lock.relkind in ('r', 'p') then
                    execute format('lock table %%s in %%s mode', v_lock.relation, v_lock.mode);
                else -- changes nothing, but locks it; lock table takes no sequence, and with a view all that it reads
                    execute format('alter table %%s owner to %%s', v_lock.relation, v_lock.owner);
                end if;
                v_holds := v_holds or not v_lock.background;
            end loop;
            if v_in_vain is null then
                perform set_config('lock_timeout', v_patience::text, true);
                return;
            end if;
            v_holds := true;
            raise lock_not_available;
        exception when lock_not_available or deadlock_detected then -- all are released, so that the session that has the other one goes on
            if not v_holds then
                raise;
            end if;
            v_in_vain := case when v_in_vain is null then v_lock.no end;
        end;
    end loop;
    raise lock_not_available using message = format('%%s was never free together with all else that is upgraded', v_lock.relation);
end;
$do$;
`
