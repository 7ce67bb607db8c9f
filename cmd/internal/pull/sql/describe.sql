-- An object in words, for messages.
select pg_describe_object($1::text::regclass, $2::bigint::oid, 0)
