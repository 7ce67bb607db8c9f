-- How the server spells definitions: every name with its schema, every constant the same for all sessions.
set local search_path = '';
set local quote_all_identifiers = off;
set local standard_conforming_strings = on;
set local datestyle = 'ISO, YMD';
set local intervalstyle = 'postgres';
set local timezone = 'UTC';
set local extra_float_digits = 1;
set local bytea_output = 'hex';
set local lc_monetary = 'C';
