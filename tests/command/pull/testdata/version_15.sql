-- at least 15
create table t (id integer primary key, a integer, b text, unique nulls not distinct (a));
create unique index t_b on t (b) nulls not distinct;
create view v with (security_invoker = true, check_option = local) as select t.id from t;
create collation icu (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create table words (w text collate icu);
