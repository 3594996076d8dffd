# mysql_fdw in an application's PostgreSQL, APP.
. "$VERDICT/verdict.sh"
app() { psql -X -At -q -v ON_ERROR_STOP=1 "$APP" "$@" 2>&1; }
distinct() { sort -un | wc -l; }

setup=$(app <<SQL
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS m CASCADE;
CREATE SCHEMA m;
CREATE EXTENSION IF NOT EXISTS mysql_fdw;
DROP SERVER IF EXISTS check_mysql CASCADE;
CREATE SERVER check_mysql FOREIGN DATA WRAPPER mysql_fdw OPTIONS (host '$HOST', port '$PORT');
CREATE USER MAPPING FOR CURRENT_USER SERVER check_mysql OPTIONS (username '$USER', password '$PASSWORD');
CREATE FOREIGN TABLE m.ids (name text, id bigint) SERVER check_mysql OPTIONS (dbname '$DB', table_name 'ids');
CREATE FOREIGN TABLE m.orders_id (id bigint) SERVER check_mysql OPTIONS (dbname '$DB', table_name 'orders_id');
CREATE FUNCTION m.next_id(n text) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT id FROM m.ids WHERE name = n';
CREATE TABLE m.o (id bigint DEFAULT m.next_id('orders') PRIMARY KEY, note text);
SQL
) || { fail setup "$setup"; exit 1; }
version "$(app -c "SELECT regexp_replace(mysql_fdw_version()::text, '^(\d+?)0?(\d)0?(\d)$', '\1.\2.\3')")"
id="SELECT id FROM m.ids WHERE name = 'orders'"
rising "WHERE name = 'orders'" "$(app -c "$id"; app -c "$id")"
rising "twice on one connection" "$(app -c "$id" -c "$id")"
rising "a relation without WHERE" "$(app -c "SELECT id FROM m.orders_id"; app -c "SELECT id FROM m.orders_id")"
rising "an SQL function" "$(app -c "SELECT m.next_id('orders')"; app -c "SELECT m.next_id('orders')")"
rising "INSERT with DEFAULT, RETURNING" "$(app -c "INSERT INTO m.o (note) VALUES ('a') RETURNING id" -c "INSERT INTO m.o (note) VALUES ('b') RETURNING id")"
equal "INSERT of 3 rows" "$(app -c "INSERT INTO m.o (note) VALUES ('a'), ('b'), ('c') RETURNING id" | distinct)" 3
equal "INSERT SELECT of 20 rows" "$(app -c "INSERT INTO m.o (note) SELECT n FROM generate_series(1, 20) n RETURNING id" | distinct)" 20
rising "a transaction" "$(app -c BEGIN -c "$id" -c "$id" -c COMMIT)"
succeeds "LIMIT" app -c "$id LIMIT 1"
equal "name IN" "$(app -c "SELECT name FROM m.ids WHERE name IN ('orders', 'orders_seq')" | sort -u | wc -l)" 2
succeeds "the whole relation" app -c "SELECT * FROM m.ids"
succeeds "EXPLAIN VERBOSE" app -c "EXPLAIN (VERBOSE) $id"
succeeds "init_command, fetch_size, character_set" app -c "ALTER SERVER check_mysql OPTIONS (ADD init_command 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
	ADD fetch_size '1', ADD character_set 'utf8mb4')" -c "$id"
if meta; then
	succeeds "meta IMPORT FOREIGN SCHEMA LIMIT TO" app -c "CREATE SCHEMA mi" \
		-c "IMPORT FOREIGN SCHEMA $DB LIMIT TO (ids, orders_id) FROM SERVER check_mysql INTO mi" -c "SELECT id FROM mi.ids WHERE name = 'orders'"
	succeeds "meta use_remote_estimate: EXPLAIN at the server" app -c "ALTER SERVER check_mysql OPTIONS (ADD use_remote_estimate 'true')" -c "EXPLAIN $id" -c "$id"
	app -c "DROP SCHEMA mi CASCADE" >/dev/null
fi
app -c "SET client_min_messages = warning" -c "DROP SCHEMA m CASCADE" -c "DROP SERVER check_mysql CASCADE" >/dev/null
exit $failed
