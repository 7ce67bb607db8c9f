package pgtest

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// MakeRoles is the SQL that makes the roles that are missing, of those that a spec names and a plain owner may not make. It is for a superuser.
func MakeRoles(names ...string) string {
	return `do $do$
declare
    v_role text;
begin
    foreach v_role in array string_to_array(` + sqltext.Literal(strings.Join(names, ",")) + `, ',') loop
        if not exists (select from pg_roles where rolname = v_role) then
            execute format('create role %I nologin', v_role);
        end if;
    end loop;
end;
$do$`
}
