# postgres_fdw in an application's PostgreSQL, APP.
. "$VERDICT/verdict.sh"
app() { psql -X -At -q -v ON_ERROR_STOP=1 "$APP" "$@" 2>&1; }
distinct() { sort -un | wc -l; }
version "$(app -c "SHOW server_version" | awk '{print $1}')"

setup=$(app <<SQL
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS f CASCADE;
CREATE SCHEMA f;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
DROP SERVER IF EXISTS check_nextid CASCADE;
CREATE SERVER check_nextid FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$HOST', port '$PORT', dbname '$DB');
CREATE USER MAPPING FOR CURRENT_USER SERVER check_nextid OPTIONS (user '$USER', password '$PASSWORD');
CREATE FOREIGN TABLE f.ids (name text, id bigint) SERVER check_nextid OPTIONS (schema_name 'public', table_name 'ids');
CREATE FOREIGN TABLE f.orders_id (id bigint) SERVER check_nextid OPTIONS (schema_name 'public', table_name 'orders_id');
CREATE FUNCTION f.next_id(n text) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT id FROM f.ids WHERE name = n';
CREATE FUNCTION f.next_order() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT id FROM f.orders_id';
CREATE FUNCTION f.next_id_pl(n text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS
	'DECLARE r bigint; BEGIN SELECT id INTO STRICT r FROM f.ids WHERE name = n; RETURN r; END';
CREATE TABLE f.by_name (id bigint DEFAULT f.next_id('orders') PRIMARY KEY, note text);
CREATE TABLE f.by_table (id bigint DEFAULT f.next_order() PRIMARY KEY, note text);
CREATE TABLE f.by_plpgsql (id bigint DEFAULT f.next_id_pl('orders') PRIMARY KEY, note text);
SQL
) || { fail setup "$setup"; exit 1; }
id="SELECT id FROM f.ids WHERE name = 'orders'"
insert() { app -c "INSERT INTO f.$1 (note) SELECT 'x' FROM generate_series(1, $2) RETURNING id"; }

rising "WHERE name = 'orders'" "$(app -c "$id"; app -c "$id")"
rising "twice on one connection" "$(app -c "$id" -c BEGIN -c "$id" -c COMMIT)"
rising "a relation without WHERE" "$(app -c "SELECT id FROM f.orders_id"; app -c "SELECT id FROM f.orders_id")"
rising "an SQL function" "$(app -c "SELECT f.next_id('orders')"; app -c "SELECT f.next_id('orders')")"
rising "INSERT with DEFAULT, RETURNING" "$(insert by_name 1; insert by_name 1)"
equal "INSERT of 3 rows" "$(app -c "INSERT INTO f.by_name(note) VALUES ('a'),('b'),('c') RETURNING id" | distinct)" 3
equal "INSERT SELECT of 20 rows" "$(insert by_table 20 | distinct)" 20
equal "PL/pgSQL, a generic plan from the 6th row" "$(insert by_plpgsql 8 | distinct)" 8
rising "prepared, generic plan" "$(app -c "SET plan_cache_mode = force_generic_plan" \
	-c "PREPARE x(text) AS SELECT id FROM f.ids WHERE name = \$1" -c "EXECUTE x('orders')" -c "EXECUTE x('orders')")"
equal "name IN" "$(app -c "SELECT name FROM f.ids WHERE name IN ('orders', 'orders_seq')" | sort -u | wc -l)" 2
succeeds "the whole relation, LIMIT" app -c "SELECT * FROM f.ids LIMIT 1"
succeeds "name and id, LIMIT" app -c "SELECT name, id FROM f.ids WHERE name = 'orders' LIMIT 1"
succeeds "max(id), pushed down" app -c "SELECT max(id) FROM f.ids WHERE name = 'orders'"
succeeds "savepoints" app -c BEGIN -c "SAVEPOINT a" -c "$id" -c "ROLLBACK TO a" -c "$id" -c "SAVEPOINT b" -c "$id" -c "RELEASE b" -c COMMIT
succeeds "rollback" app -c BEGIN -c "$id" -c ROLLBACK -c "$id"
succeeds "serializable" app -c "BEGIN ISOLATION LEVEL SERIALIZABLE" -c "$id" -c COMMIT
succeeds "an error in a subtransaction" app -c BEGIN -c "$id" -c "DO 'begin perform 1/0; exception when others then null; end'" -c COMMIT
succeeds "a join with local rows" app -c "SELECT i.id FROM f.ids i JOIN (VALUES ('orders')) v(n) ON i.name = v.n"
equal "a rescan for each row" "$(app -c "SELECT (SELECT id FROM f.ids WHERE name = v.n)
	FROM (VALUES ('orders'), ('orders'), ('orders')) v(n)" | distinct)" 3
succeeds "INSERT from the foreign table" app -c "INSERT INTO f.by_name (id, note) SELECT id, 'f' FROM f.ids WHERE name = 'orders'"
succeeds "fetch_size 1" app -c "ALTER FOREIGN TABLE f.ids OPTIONS (ADD fetch_size '1')" -c "$id" \
	-c "ALTER FOREIGN TABLE f.ids OPTIONS (DROP fetch_size)"
succeeds "EXPLAIN VERBOSE" app -c "EXPLAIN (VERBOSE) $id"
succeeds "async_capable append" app -c "ALTER SERVER check_nextid OPTIONS (ADD async_capable 'true')" \
	-c "$id UNION ALL SELECT id FROM f.orders_id" -c "ALTER SERVER check_nextid OPTIONS (DROP async_capable)"
succeeds "parallel_commit, keep_connections off" app \
	-c "ALTER SERVER check_nextid OPTIONS (ADD parallel_commit 'true', ADD keep_connections 'off')" -c "$id" -c "$id"
succeeds "postgres_fdw_disconnect_all" app -c "$id" -c "SELECT postgres_fdw_disconnect_all()"
succeeds "options of the server" app -c "ALTER SERVER check_nextid OPTIONS (ADD options '-c statement_timeout=5000',
	ADD application_name 'check', ADD connect_timeout '10')" -c "$id"

if meta; then
	import() { app -c "DROP SCHEMA IF EXISTS i CASCADE" -c "CREATE SCHEMA i" -c "IMPORT FOREIGN SCHEMA public $1 FROM SERVER check_nextid INTO i"; }
	succeeds "meta IMPORT FOREIGN SCHEMA LIMIT TO" import "LIMIT TO (ids, orders_id)"
	rising "meta the imported table" "$(app -c "SELECT id FROM i.ids WHERE name = 'orders'"; app -c "SELECT id FROM i.ids WHERE name = 'orders'")"
	succeeds "meta IMPORT FOREIGN SCHEMA" import ""
	app -c "DROP SCHEMA i CASCADE" >/dev/null
	succeeds "meta use_remote_estimate: EXPLAIN at the server" app \
		-c "ALTER FOREIGN TABLE f.ids OPTIONS (ADD use_remote_estimate 'true')" -c "$id" -c "EXPLAIN $id"
	succeeds "meta ANALYZE" app -c "ANALYZE f.ids"
fi
app -c "SET client_min_messages = warning" -c "DROP SCHEMA f CASCADE" -c "DROP SERVER check_nextid CASCADE" >/dev/null
exit $failed
