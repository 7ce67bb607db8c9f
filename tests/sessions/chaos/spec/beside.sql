-- What the spec does not say: rows to begin with, and a trigger of the application that writes another source.
create function product_changed()
    returns trigger
    language plpgsql
as $function$
begin
    insert into events values (new.kind, old.price::int);
    return null;
end;
$function$;
create trigger product_changed after update of kind on products for each row execute function product_changed();

insert into customers select i, nullif(i % 4, 0), 'c' || i from generate_series(1, 6) i;
insert into products select i, 'k' || i % 2, i * 1.5 from generate_series(1, 5) i;
insert into orders select i, 1 + i % 6, 1 + i % 5, i * 3, case when i % 3 > 0 then 'n' || i % 3 end from generate_series(1, 30) i;
insert into lines select i, n, i + n from generate_series(1, 30) i, generate_series(1, 2) n;
insert into events select nullif('e' || i % 4, 'e0'), i % 7 from generate_series(1, 20) i;
