select a.b[1].c, (x).y, $1[1], array[1,2], t.* from t
select cast(a as numeric(10,2)[]), b::timestamp(3) with time zone, c::interval, d::double precision x, e::bit varying(3), f::char varying(2), g::time without time zone
select date '2020-01-01', interval '1 hour', timestamp with time zone 'x', numeric(3,1) '1', bit '01', char(3) 'abc', double precision '1'
select substring(a from b for c), trim(both 'x' from y), trim(leading from y), trim(x), substring(a, b)
select count(*) over (partition by a order by b), f(distinct a order by b desc nulls last), h(a => 1, b := 2) from t
select current_date, current_timestamp, localtime, current_user, session_user, user, current_schema, current_schema(), current_catalog
select a is null, b is not distinct from c, f is not true, g between asymmetric 1 and 2 and h, i not like 'x' escape '\', l not similar to m, n in (1,2), o not in (select 1), p = any (array[1]), q <> all (array[1])
select not a = b and c or d, - a ^ b, a + b * c - d, a || b || c, b collate "C", a operator(pg_catalog.+) b
with recursive a(x) as (values (1) union all select x + 1 from a), b as not materialized (select 1) select * from a, b order by 1 desc nulls first, 2 limit 5 offset 2 rows
(select 1) union (select 2 order by 1 limit 1) union all select 3 union select 4 order by 1 limit 3 for update
select distinct a, b from t1 left outer join t2 using (x, y) cross join (t4 join t5 on true) where exists (select 1) group by a, b
select * from f(1) as t(a, b), lateral (select 1) s, g(1) r, only t6
select case a when 1 then 2 else 3 end, case when a then b end, coalesce(a, b), greatest(1, 2), nullif(a, b), exists (select 1), array(select 1)
select ((select 1)), ((select 1) + 1), (((select 1)) union select 2), (select a, b), ((a)), (((a)).b)
select 1 as select, 2 name, 3 value, 4 "x", 5 kind from ids time
values (1, default), (2, null) order by 1 limit all
set session characteristics as transaction isolation level serializable, read only, not deferrable
set time zone interval '+00:00' hour to minute
set local search_path to a, 'b', 1, -2.5
set transaction isolation level read committed
set role none
set session authorization default
set names 'utf8'
set a.b.c = on
reset session authorization
show transaction isolation level
begin isolation level repeatable read read only deferrable
start transaction read write
commit and no chain
rollback to savepoint x
rollback work and no chain
prepare p (int, text[]) as select $1, $2
prepare transaction 'x'
execute p (1, 'a')
deallocate prepare all
declare c insensitive no scroll cursor with hold for select 1
fetch forward 10 from c
fetch 5 in c
move all c
fetch next from c
close all
copy (select 1) to stdout with (format csv, header)
copy t (a, b) to stdout csv header
listen x
unlisten *
notify x, 'y'
discard temp
create temp sequence if not exists a.b as bigint start with 1 increment by 2 no maxvalue minvalue 1 cache 5 no cycle owned by none
alter sequence if exists a restart with 5 cycle
drop sequence if exists a, b.c cascade
alter sequence if exists a.b owner to current_user
alter table if exists only a.b owner to c
comment on sequence a.b is 'x'
grant select, usage on sequence a, b.c to d with grant option
revoke all on all sequences in schema a, b from c cascade
explain analyze select 1
explain analyze verbose select 1
select all 'a'
select e'a\nb', $$x$$, $a$ $$ $a$
select 1.5e10, .5, 1., 1e5, 100000000000000000000
select next value, a at, b is from t
