package pgtest

import (
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// MakeRoles is the SQL that makes the roles that are missing, of those that a spec names and a plain owner may not make. Several sessions may run it at once.
// It is for a superuser.
func MakeRoles(names ...string) string {
	return `do $do$
declare
    v_role text;
begin
    foreach v_role in array string_to_array(` + sqltext.Literal(strings.Join(names, ",")) + `, ',') loop
        begin
            execute format('create role %I nologin', v_role);
        exception when duplicate_object or unique_violation then -- it is there, or another session makes it
        end;
    end loop;
end;
$do$`
}
