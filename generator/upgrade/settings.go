package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// KeepSettings sets, until the transaction ends, the time zone and the styles that the functions of an installed version have. Otherwise the functions of
// the next version would have those of the session that upgrades, while rows are stored that were computed in another time zone.
func (m Manifest) KeepSettings() string {
	if !slices.ContainsFunc(m.Objects, func(o Object) bool { return strings.Contains(o.SQL, "set timezone from current") }) {
		return ""
	}
	return fmt.Sprintf(`do $do$
begin
    -- Rows are stored that functions computed in the time zone and the styles of the session that installed them. New functions keep these.
    perform set_config(split_part(s.setting, '=', 1), substr(s.setting, strpos(s.setting, '=') + 1), true)
    from (
        select distinct on (split_part(c, '=', 1)) c
        from pg_proc p
        cross join unnest(p.proconfig) c
        where p.pronamespace = %s::regnamespace and c ~ '^(TimeZone|DateStyle|IntervalStyle)='
        order by split_part(c, '=', 1), p.oid
    ) s (setting);
end;
$do$;

`, sqltext.Literal(sqltext.Ident(m.Internal)))
}
