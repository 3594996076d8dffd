# dblink in an application's PostgreSQL, APP.
. "$VERDICT/verdict.sh"
app() { psql -X -At -q -v ON_ERROR_STOP=1 "$APP" "$@" 2>&1; }
distinct() { sort -un | wc -l; }
app -c "SET client_min_messages=warning; CREATE EXTENSION IF NOT EXISTS dblink" || { fail setup "CREATE EXTENSION"; exit 1; }
version "$(app -c "SHOW server_version" | awk '{print $1}')"

server="host=$HOST port=$PORT user=$USER password=$PASSWORD dbname=$DB connect_timeout=10"
id="SELECT id FROM dblink('$server', \$\$SELECT next_id('orders')\$\$) AS t(id bigint)"
connect() { echo "SELECT dblink_connect('$1', '$server')"; }

rising "unnamed connection" "$(app -c "$id"; app -c "$id")"
equal "named connection, 5 ids in one session" "$(app -c "$(connect k)" -c "SELECT (SELECT id FROM dblink('k',
	'select nextval(''orders'') /* ' || n || ' */') t(id bigint)) FROM generate_series(1,5) n" | grep -v OK | distinct)" 5
equal "DEFAULT of 3 rows" "$(app -c "CREATE FUNCTION pg_temp.next_order() RETURNS bigint LANGUAGE sql VOLATILE
	AS \$f\$ SELECT id FROM dblink('$server', 'select next_id(''orders'')') AS t(id bigint) \$f\$" \
	-c "CREATE TEMP TABLE t(id bigint DEFAULT pg_temp.next_order(), n int)" \
	-c "INSERT INTO t(n) VALUES (1),(2),(3) RETURNING id" | distinct)" 3
succeeds "send_query, get_result" app -c "$(connect a)" -c "SELECT dblink_send_query('a', \$\$SELECT next_id('orders')\$\$)" \
	-c "SELECT * FROM dblink_get_result('a') t(id bigint)" -c "SELECT * FROM dblink_get_result('a') t(id bigint)" \
	-c "SELECT dblink_is_busy('a'), dblink_error_message('a'), dblink_disconnect('a')"
succeeds "open, fetch, close: a cursor" app -c "$(connect c)" -c "SELECT dblink_open('c', 'cur', 'SELECT next_id(''orders'')')" \
	-c "SELECT * FROM dblink_fetch('c', 'cur', 5) t(id bigint)" -c "SELECT dblink_close('c', 'cur')"
succeeds "exec BEGIN, COMMIT" app -c "$(connect e)" -c "SELECT dblink_exec('e', 'BEGIN')" \
	-c "SELECT * FROM dblink('e', 'SELECT next_id(''orders'')') t(id bigint)" -c "SELECT dblink_exec('e', 'COMMIT')"
equal "next_ids, 3 rows" "$(app -c "SELECT * FROM dblink('$server', 'SELECT * FROM next_ids(''orders'', 3)') t(id bigint)" | distinct)" 3
equal "columns of parse_id" "$(app -c "SELECT * FROM dblink('$server',
	'SELECT layout, worker, sequence FROM parse_id(1099511627776)') t(layout text, worker bigint, sequence bigint)")" "twitter|0|0"
succeeds "foreign server of dblink_fdw" app -c "SET client_min_messages=warning; DROP SERVER IF EXISTS dsrv CASCADE;
	CREATE SERVER dsrv FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$HOST', port '$PORT', dbname '$DB');
	CREATE USER MAPPING FOR CURRENT_USER SERVER dsrv OPTIONS (user '$USER', password '$PASSWORD');
	SELECT * FROM dblink('dsrv', 'SELECT next_id(''orders'')') t(id bigint); DROP SERVER dsrv CASCADE"
matches "error of the server" "$(app -c "SELECT * FROM dblink('$server', 'SELECT no_such_function(1)') t(id bigint)")" no_such_function
succeeds "another client encoding" app -c "SET client_encoding TO LATIN1; $id"
succeeds "cancel_query, get_notify" app -c "$(connect n)" -c "SELECT dblink_cancel_query('n')" -c "SELECT * FROM dblink_get_notify('n')"
exit $failed
