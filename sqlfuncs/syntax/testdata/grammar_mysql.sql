select @a, @a := 1 + 2, @@sql_mode, @@global.x, @@session.y, @`q q`, 'a', "b", x'1f', _utf8mb4'x', ?, `a b`.`c`
select a <=> b, a != b, a && b || c xor d, !a, not a = b, a div b mod c % d, a | b & c << d >> e ^ f, -a, a -> '$.x', a ->> '$.y'
select a like b escape '|', a between 1 and 2 and c, a in (1, 2), a not in (select 1), a is null, a is not true
select now() + interval 1 day, a - interval (1 + 2) minute, interval -1 year
select cast(a as char(10) character set utf8mb4), cast(b as signed integer), cast(c as unsigned), convert(d, char), cast(f as decimal(10,2)), binary g, cast(h as datetime(6))
select f(distinct a order by b desc), count(distinct a, b), if(a, b, c), left(a, 1), database(), values(a), replace(a, 'b', 'c')
select sql_no_cache distinct a from t where a = 1 group by b order by d limit 5, 10
select a from t1 straight_join t2 on x join t3 using (y) cross join t4 left join (t5 join t6) on z, (select 1) t8
select * from dual where 1 limit ? offset ?
select 1 into @a, @b from t for update
select a 'label', b as "x", c as `select`, d Name from t lock in share mode
select next value for s, next_id('x')
select next 5 values from s
select next value from s
(select 1) union all (select 2) order by 1 limit 1
values row(1, 2), row(3, 4)
with recursive a as (select 1 union all select 2 from a) select * from a
set @a = 1, @b := 'x', @@global.c = default, session d = on, global e = 1, f = utf8mb4
set names utf8mb4 collate utf8mb4_bin
set character set 'latin1'
set session transaction isolation level repeatable read, read only
set global transaction read write
set transaction isolation level serializable
set statement max_statement_time = 5, x = 1 for select 1
show full columns from `t` from `db` like 'x%'
show create table a.b
show variables where variable_name = 'x' or value = 'y'
show table status from db like 'x'
show index in t in db
show grants for current_user()
show warnings limit 1
show global status
describe t x
desc select 1
explain analyze select 1
explain t
use db
do 1, sleep(1)
kill query 5
kill connection connection_id()
lock tables t read, u write
unlock tables
prepare p from 'select ?, "x"'
execute p using @a, @b
drop prepare p
deallocate prepare p
begin work
start transaction with consistent snapshot, read only
commit and no chain no release
rollback to savepoint x
create sequence s start = 1 increment by = 2 nocache nocycle nomaxvalue
create or replace table t (a int)
create definer = `r`@`%` procedure p() begin select 1; select 2; end
create trigger t before insert on u for each row set new.a = 1
insert into t values (1, 'a;b')
load data infile 'x' into table t
select case a when 1 then 2 else 3 end, exists (select 1), coalesce(a, b), current_timestamp(3), current_user(), utc_date, date '2020-01-01'
select trim(both 'x' from y), substring(a from 2 for 3), substring(a, 2)
select /*! straight_join */ a, /*!50002 b, */ /*!99999 c, */ d -- x
