SET NAMES utf8mb3
----
SET autocommit=0
----

                SELECT VERSION(),
                       @@sql_mode,
                       @@default_storage_engine,
                       @@sql_auto_is_null,
                       @@lower_case_table_names,
                       CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL
----
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
----
SELECT next_id('orders')
----
SAVEPOINT `s140703023276736_x1`
----
RELEASE SAVEPOINT `s140703023276736_x1`
----
COMMIT
----
SELECT `ids`.`name`, `ids`.`id` FROM `ids` WHERE `ids`.`name` = 'orders' LIMIT 21
----
SELECT `ids`.`id` FROM `ids` WHERE `ids`.`name` = 'orders' LIMIT 21
----
SHOW FULL TABLES
----
set time_zone='+00:00'
----
SELECT * FROM `orders_id` WHERE 1=0
----
SELECT * FROM `ids` WHERE 1=0
----
SHOW TABLE STATUS LIKE 'orders_id'
----
SELECT `id` FROM `orders_id`
----
SHOW TABLE STATUS LIKE 'ids'
----
SELECT `name`, `id` FROM `ids`
----
SELECT `name`, `id` FROM `ids` WHERE  (`name` = 'orders')
----
SELECT next_id(?)
----
SET TRANSACTION ISOLATION LEVEL READ COMMITTED
----
START TRANSACTION
----
START TRANSACTION READ ONLY
----
SELECT 1
----
ROLLBACK
----
SELECT next_id('orders'); SELECT next_id('orders')
----
SET sql_mode = 'STRICT_ALL_TABLES', autocommit = 1
----
SELECT VERSION()
----
SAVEPOINT sp11208187783126509421
----
DROP TABLE IF EXISTS gorm_exprs
----
SELECT DATABASE()
----
SELECT SCHEMA_NAME from Information_schema.SCHEMATA where SCHEMA_NAME LIKE ? ORDER BY SCHEMA_NAME=? DESC,SCHEMA_NAME limit 1
----
SELECT count(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = ? AND table_type = ?
----
CREATE TABLE `gorm_exprs` (`id` bigint,`note` longtext,PRIMARY KEY (`id`))
----
INSERT INTO `gorm_exprs` (`id`,`note`) VALUES (?,?)
----
DROP TABLE gorm_exprs
----
set autocommit=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')
----
SELECT @@max_allowed_packet,@@system_time_zone,@@time_zone,@@auto_increment_increment
----
SELECT @@tx_isolation
----
set autocommit=0
----
SELECT next_id('orders') AS id
----
SAVEPOINT `sp`
----
ROLLBACK TO SAVEPOINT `sp`
----
SET STATEMENT max_statement_time=5 FOR SELECT 1
----
set autocommit=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES'),wait_timeout=100
----
SELECT TABLE_SCHEMA TABLE_CAT, NULL TABLE_SCHEM, TABLE_NAME, IF(TABLE_TYPE='BASE TABLE' or TABLE_TYPE='SYSTEM VERSIONED', 'TABLE', TABLE_TYPE) as TABLE_TYPE, TABLE_COMMENT REMARKS, NULL TYPE_CAT, NULL TYPE_SCHEM, NULL TYPE_NAME, NULL SELF_REFERENCING_COL_NAME, NULL REF_GENERATION FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = database() ORDER BY TABLE_TYPE, TABLE_SCHEMA, TABLE_NAME
----
SELECT TABLE_SCHEMA TABLE_CAT, NULL TABLE_SCHEM, TABLE_NAME, COLUMN_NAME, CASE data_type WHEN 'bit' THEN -7 WHEN 'tinyblob' THEN -3 WHEN 'mediumblob' THEN -4 WHEN 'longblob' THEN -4 WHEN 'blob' THEN -4 WHEN 'tinytext' THEN 12 WHEN 'mediumtext' THEN -1 WHEN 'longtext' THEN -1 WHEN 'text' THEN -1 WHEN 'date' THEN 91 WHEN 'datetime' THEN 93 WHEN 'decimal' THEN 3 WHEN 'double' THEN 8 WHEN 'enum' THEN 12 WHEN 'float' THEN 7 WHEN 'int' THEN IF( COLUMN_TYPE like '%unsigned%', 4,4) WHEN 'bigint' THEN -5 WHEN 'mediumint' THEN 4 WHEN 'null' THEN 0 WHEN 'set' THEN 12 WHEN 'smallint' THEN IF( COLUMN_TYPE like '%unsigned%', 5,5) WHEN 'varchar' THEN 12 WHEN 'varbinary' THEN -3 WHEN 'char' THEN 1 WHEN 'binary' THEN -2 WHEN 'time' THEN 92 WHEN 'timestamp' THEN 93 WHEN 'tinyint' THEN IF(COLUMN_TYPE like 'tinyint(1)%',-7,-6)  WHEN 'year' THEN 91 ELSE 1111 END  DATA_TYPE, IF(COLUMN_TYPE like 'tinyint(1)%', 'BIT',  UCASE(IF( COLUMN_TYPE LIKE '%(%)%', CONCAT(SUBSTRING( COLUMN_TYPE,1, LOCATE('(',COLUMN_TYPE) - 1 ), SUBSTRING(COLUMN_TYPE ,1+locate(')', COLUMN_TYPE))), COLUMN_TYPE))) TYPE_NAME,  CASE DATA_TYPE  WHEN 'time' THEN IF(DATETIME_PRECISION = 0, 10, CAST(11 + DATETIME_PRECISION as signed integer))  WHEN 'date' THEN 10  WHEN 'datetime' THEN IF(DATETIME_PRECISION = 0, 19, CAST(20 + DATETIME_PRECISION as signed integer))  WHEN 'timestamp' THEN IF(DATETIME_PRECISION = 0, 19, CAST(20 + DATETIME_PRECISION as signed integer))  ELSE   IF(NUMERIC_PRECISION IS NULL, LEAST(CHARACTER_MAXIMUM_LENGTH,2147483647), NUMERIC_PRECISION)  END COLUMN_SIZE, 65535 BUFFER_LENGTH,  CONVERT (CASE DATA_TYPE WHEN 'year' THEN NUMERIC_SCALE WHEN 'tinyint' THEN 0 ELSE NUMERIC_SCALE END, UNSIGNED INTEGER) DECIMAL_DIGITS, 10 NUM_PREC_RADIX, IF(IS_NULLABLE = 'yes',1,0) NULLABLE,COLUMN_COMMENT REMARKS, COLUMN_DEFAULT COLUMN_DEF, 0 SQL_DATA_TYPE, 0 SQL_DATETIME_SUB,   LEAST(CHARACTER_OCTET_LENGTH,2147483647) CHAR_OCTET_LENGTH, ORDINAL_POSITION, IS_NULLABLE, NULL SCOPE_CATALOG, NULL SCOPE_SCHEMA, NULL SCOPE_TABLE, NULL SOURCE_DATA_TYPE, IF(EXTRA = 'auto_increment','YES','NO') IS_AUTOINCREMENT,  IF(EXTRA in ('VIRTUAL', 'PERSISTENT', 'VIRTUAL GENERATED', 'STORED GENERATED') ,'YES','NO') IS_GENERATEDCOLUMN  FROM INFORMATION_SCHEMA.COLUMNS  WHERE TABLE_SCHEMA = database() AND TABLE_NAME='ids' ORDER BY TABLE_CAT, TABLE_SCHEM, TABLE_NAME, ORDINAL_POSITION
----
SELECT SCHEMA_NAME TABLE_CAT FROM INFORMATION_SCHEMA.SCHEMATA ORDER BY 1
----
SELECT A.TABLE_SCHEMA TABLE_CAT, NULL TABLE_SCHEM, A.TABLE_NAME, A.COLUMN_NAME, B.SEQ_IN_INDEX KEY_SEQ, B.INDEX_NAME PK_NAME  FROM INFORMATION_SCHEMA.COLUMNS A, INFORMATION_SCHEMA.STATISTICS B WHERE A.COLUMN_KEY in ('PRI','pri') AND B.INDEX_NAME='PRIMARY'  AND A.TABLE_SCHEMA = database() AND B.TABLE_SCHEMA = database() AND A.TABLE_NAME='ids' AND B.TABLE_NAME='ids' AND A.TABLE_SCHEMA = B.TABLE_SCHEMA AND A.TABLE_NAME = B.TABLE_NAME AND A.COLUMN_NAME = B.COLUMN_NAME ORDER BY A.COLUMN_NAME
----
SELECT TABLE_SCHEMA TABLE_CAT, NULL TABLE_SCHEM, TABLE_NAME, NON_UNIQUE,  TABLE_SCHEMA INDEX_QUALIFIER, INDEX_NAME, 3 TYPE, SEQ_IN_INDEX ORDINAL_POSITION, COLUMN_NAME, COLLATION ASC_OR_DESC, CARDINALITY, NULL PAGES, NULL FILTER_CONDITION FROM INFORMATION_SCHEMA.STATISTICS WHERE TABLE_SCHEMA = database() AND TABLE_NAME = 'ids' ORDER BY NON_UNIQUE, TYPE, INDEX_NAME, ORDINAL_POSITION
----
SELECT ROUTINE_SCHEMA FUNCTION_CAT,NULL FUNCTION_SCHEM, ROUTINE_NAME FUNCTION_NAME, ROUTINE_COMMENT REMARKS,1 FUNCTION_TYPE, SPECIFIC_NAME  FROM INFORMATION_SCHEMA.ROUTINES  WHERE ROUTINE_SCHEMA = database() AND ROUTINE_NAME LIKE 'next%' AND  ROUTINE_TYPE='FUNCTION'
----
SELECT ROUTINE_SCHEMA PROCEDURE_CAT,NULL PROCEDURE_SCHEM, ROUTINE_NAME PROCEDURE_NAME, NULL RESERVED1, NULL RESERVED2, NULL RESERVED3, ROUTINE_COMMENT REMARKS, CASE ROUTINE_TYPE   WHEN 'FUNCTION' THEN 2  WHEN 'PROCEDURE' THEN 1  ELSE 0 END PROCEDURE_TYPE, SPECIFIC_NAME  FROM INFORMATION_SCHEMA.ROUTINES  WHERE ROUTINE_SCHEMA = database()
----
BEGIN
----
PREPARE p FROM 'SELECT next_id(?)'
----
SET @n='orders'
----
EXECUTE p USING @n
----
DEALLOCATE PREPARE p
----
SET @x=next_id('orders')
----
SELECT @x
----
SELECT next_id('orders') INTO @y
----
SELECT @y
----
select DATABASE(), USER() limit 1
----
select @@version_comment limit 1
----
select @@character_set_client, @@character_set_connection, @@character_set_server, @@character_set_database limit 1
----
SELECT database()
----
show databases
----
show tables
----
SELECT no_such_function(1)
----
SELECT * FROM no_such_table
----
select version()
----
select @@version
----
SELECT next_id("orders")
----
SELECT `next_id`('orders')
----
SELECT corpus.next_id('orders')
----
SELECT next_id('orders') FROM DUAL
----
SELECT CAST(next_id('orders') AS CHAR)
----
SELECT CONVERT(next_id('orders'), CHAR)
----
SELECT id FROM ids WHERE name='orders'
----
SELECT next_id('orders'), next_id('orders_seq')
----
SELECT  next_id('orders')
----
SELECT SQL_NO_CACHE next_id('orders')
----
SELECT nextval(orders)
----
SELECT NEXT VALUE FOR orders
----
SELECT nextval('orders')
----
DO next_id('orders')
----
SELECT last_insert_id()
----
SHOW WARNINGS
----
SHOW VARIABLES LIKE 'version%'
----
SHOW DATABASES
----
SHOW TABLES
----
SELECT connection_id()
----
SELECT current_user()
----
SELECT now()
----
SHOW STATUS LIKE 'Uptime'
----
SET SESSION sql_mode='ANSI_QUOTES'
----
SHOW FULL COLUMNS FROM ids
----
SHOW CREATE TABLE ids
----
DESCRIBE ids
----
SHOW FUNCTION STATUS LIKE 'next_id'
----
SHOW PROCESSLIST
----
SHOW ENGINES
----
KILL QUERY 999999
----
show /*!50002 GLOBAL */ status
----
show processlist
----
show /*!40003 GLOBAL */ variables
----
SET sql_mode='STRICT_ALL_TABLES'
----
SET SQL_SAFE_UPDATES=1,SQL_SELECT_LIMIT=1000,MAX_JOIN_SIZE=1000000
----
CREATE OR REPLACE TABLE cli_items(id bigint primary key, note text)
----
CREATE TRIGGER cli_bi BEFORE INSERT ON cli_items FOR EACH ROW SET NEW.id=next_id('orders')
----
INSERT INTO cli_items(note) VALUES ('a'),('b') RETURNING id
----
DROP TABLE cli_items
----
SET sql_mode = 'ANSI_QUOTES'
----
SELECT `id` FROM `corpus`.`ids` WHERE ((`name` = 'orders'))
----
SELECT `id` FROM `corpus`.`orders_id`
----
SELECT `id` FROM `corpus`.`ids` WHERE ((`name` = ?))
----
SELECT `id` FROM `corpus`.`ids` WHERE ((`name` = 'orders')) LIMIT 1
----
SELECT `id` FROM `corpus`.`ids` WHERE (`name`  IN ('orders', 'orders_seq'))
----
SELECT `name`, `id` FROM `corpus`.`ids`
----
SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'corpus'
----
 SELECT  t.TABLE_NAME,  c.COLUMN_NAME,  CASE    WHEN c.DATA_TYPE = 'enum' THEN LOWER(CONCAT(t.TABLE_NAME, '_', c.COLUMN_NAME, '_t'))    WHEN c.DATA_TYPE = 'tinyint' THEN 'smallint'    WHEN c.DATA_TYPE = 'mediumint' THEN 'integer'    WHEN c.DATA_TYPE = 'tinyint unsigned' THEN 'smallint'    WHEN c.DATA_TYPE = 'smallint unsigned' THEN 'integer'    WHEN c.DATA_TYPE = 'mediumint unsigned' THEN 'integer'    WHEN c.DATA_TYPE = 'int unsigned' THEN 'bigint'    WHEN c.DATA_TYPE = 'bigint unsigned' THEN 'numeric(20)'    WHEN c.DATA_TYPE = 'double' THEN 'double precision'    WHEN c.DATA_TYPE = 'float' THEN 'real'    WHEN c.DATA_TYPE = 'datetime' THEN 'timestamp'    WHEN c.DATA_TYPE = 'longtext' THEN 'text'    WHEN c.DATA_TYPE = 'mediumtext' THEN 'text'    WHEN c.DATA_TYPE = 'tinytext' THEN 'text'    WHEN c.DATA_TYPE = 'blob' THEN 'bytea'    WHEN c.DATA_TYPE = 'mediumblob' THEN 'bytea'    WHEN c.DATA_TYPE = 'longblob' THEN 'bytea'    WHEN c.DATA_TYPE = 'binary' THEN 'bytea'    WHEN c.DATA_TYPE = 'varbinary' THEN 'bytea'    ELSE c.DATA_TYPE  END,  c.COLUMN_TYPE,  IF(c.IS_NULLABLE = 'NO', 't', 'f'),  c.COLUMN_DEFAULT FROM  information_schema.TABLES AS t JOIN  information_schema.COLUMNS AS c ON  t.TABLE_CATALOG <=> c.TABLE_CATALOG AND t.TABLE_SCHEMA <=> c.TABLE_SCHEMA AND t.TABLE_NAME <=> c.TABLE_NAME WHERE  t.TABLE_SCHEMA = 'corpus' AND t.TABLE_NAME IN ('ids', 'orders_id') ORDER BY t.TABLE_NAME, c.ORDINAL_POSITION
----
EXPLAIN SELECT `id` FROM `corpus`.`ids` WHERE ((`name` = 'orders'))
----
SELECT next_id(?) AS id
----
set @@wait_timeout=100
----
SET time_zone='+00:00'
----
SET @a=1
----
SELECT next_id('orders') AS id; SELECT next_id('orders') AS id
----
SELECT next_id(?)  AS id
----
select version() as version
----
select `id` from `ids` where `name` = 'orders' limit 1
----
select `id` from `ids` where `name` = 'orders'
----
BEGIN;
----
SAVEPOINT trx3;
----
RELEASE SAVEPOINT trx3;
----
COMMIT;
----
SET time_zone = '+00:00'
----
SELECT VERSION() as `version`
----
SELECT 1+1 AS result
----
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
----
START TRANSACTION;
----
SELECT version()
----
begin
----
commit
----
SET AUTOCOMMIT = 0
----
set session time_zone = '+00:00';set @`spider_lc_./corpus/orders_id` = '-02fc00000001-4f6e-./app/orders_id-'
----
SET NAMES latin1
----
show table status from `corpus` like 'orders_id'
----
show index from `corpus`.`orders_id`
----
set session transaction isolation level repeatable read;set session autocommit = 1;set session wait_timeout = 604800;set session sql_mode = 'strict_trans_tables,error_for_division_by_zero,no_auto_create_user,no_engine_substitution';start transaction
----
select t0.`id` `id` from `corpus`.`orders_id` t0
----
set session transaction isolation level repeatable read;set session autocommit = 1;set session wait_timeout = 604800;set session sql_mode = 'strict_trans_tables,error_for_division_by_zero,no_auto_create_user,no_engine_substitution';set session time_zone = '+00:00';set @`spider_lc_./corpus/orders_id` = '-02fc00000001-4f6e-./app/orders_id-';start transaction
----
set session time_zone = '+00:00';set @`spider_lc_./corpus/ids` = '-02fc00000001-4f6e-./app/ids-'
----
show table status from `corpus` like 'ids'
----
show index from `corpus`.`ids`
----
select `name`,`id` from `corpus`.`ids` where `name` = 'orders'
----
set session transaction isolation level repeatable read;set session autocommit = 1;set session wait_timeout = 604800;set session sql_mode = 'strict_trans_tables,error_for_division_by_zero,no_auto_create_user,no_engine_substitution';set session time_zone = '+00:00';set @`spider_lc_./corpus/ids` = '-02fc00000001-4f6e-./app/ids-';start transaction
----
select t0.`id` `id` from `corpus`.`orders_id` t0 lock in share mode
----
select `name`,`id` from `corpus`.`ids` where `name` = 'orders' lock in share mode
----
SELECT @@sql_mode
----
SELECT @@lower_case_table_names
----
SELECT next_id('orders') AS next_id_1
----
SAVEPOINT sa_savepoint_1
----
RELEASE SAVEPOINT sa_savepoint_1
----
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ
----
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'corpus' AND table_name = 'ids'
----
SHOW FULL TABLES FROM `corpus`
----
SHOW CREATE TABLE `ids`
----
DESCRIBE `ids`
----
select nextval(orders)
