create schema "Odd 'sources'";
create table "Odd 'sources'"."Täble % with $1 and ""quotes"" that has a long name of bytes" (
    "Key % 'k' ""q""" text not null, "select" int4, "it's %s" json, tags text[], primary key ("Key % 'k' ""q""", "select")
);
select create_distributed_table('"Odd ''sources''"."Täble % with $1 and ""quotes"" that has a long name of bytes"', 'Key % ''k'' "q"');
create table "from" (k uuid primary key, "order" varchar(3), price numeric(10, 2), "double" float8, seen timestamptz, raw bytea);
select create_distributed_table('"from"', 'k');
create table "reference table" ("order" varchar(3) primary key, "%L" text);
select create_reference_table('public."reference table"');
