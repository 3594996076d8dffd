. "$VERDICT/verdict.sh"
export PGPASSWORD=$PASSWORD PGHOST=$HOST PGPORT=$PORT PGUSER=$USER PGDATABASE=$DB
export PSQLRC=/dev/null PAGER=cat PGCONNECT_TIMEOUT=10
version "$(psql --version | awk '{print $3}')"

q() { psql -X -At -v ON_ERROR_STOP=1 "$@" 2>&1; }
# commands TEXT: psql reads it, as printf prints it, from standard input.
commands() {
	local text=$1
	shift
	printf "$text" | q "$@"
}
id="SELECT next_id('orders')"

rising "next_id, twice" "$(q -c "$id"; q -c "$id")"
rising "nextval, twice" "$(q -c "select nextval('orders')" -c "select nextval('orders');")"
rising "two statements in one Query" "$(q -c "$id; $id")"
rising "two statements from standard input" "$(commands "$id AS a;\n$id AS b;\n")"
equal "next_ids in the select list" "$(q -c "SELECT next_ids('orders', 3)" | wc -l)" 3
equal "next_ids in FROM" "$(q -c "SELECT * FROM next_ids('orders', 3)" | wc -l)" 3
succeeds "parse_id(next_id()) in FROM" q -c "SELECT * FROM parse_id(next_id('orders'))"
succeeds "parse_id of a literal" q -c "SELECT parse_id(1234567890123)"
rising "BEGIN, COMMIT" "$(q -q -c BEGIN -c "$id" -c "$id" -c COMMIT)"
rising "--single-transaction" "$(q -q -1 -c "$id" -c "$id")"
equal "START TRANSACTION with modes, ROLLBACK" \
	"$(q -q -c "START TRANSACTION ISOLATION LEVEL READ COMMITTED READ ONLY" -c "SELECT 1" -c ROLLBACK)" 1
rising "PREPARE, EXECUTE, DEALLOCATE" \
	"$(q -q -c "PREPARE p(text) AS SELECT next_id(\$1)" -c "EXECUTE p('orders')" -c "EXECUTE p('orders')" -c "DEALLOCATE p")"
rising "\\gset" "$(commands "$id AS x \\\\gset\n\\\\echo :x\n$id AS x \\\\gset\n\\\\echo :x\n")"
rising "\\gexec over generate_series" \
	"$(commands "SELECT 'SELECT next_id(''orders'')' FROM generate_series(1,2) \\\\gexec\n")"
rising "\\gexec over UNION ALL" \
	"$(commands "SELECT 'SELECT next_id(''orders'')' UNION ALL SELECT 'SELECT next_id(''orders'') ' \\\\gexec\n")"
equal "\\gdesc" "$(commands "$id \\\\gdesc\n")" "next_id|bigint"
rising "\\watch" "$( (printf "$id\n\\\\watch 0.2\n"; sleep 0.1) |
	timeout -s INT 1.5 psql -X -At 2>&1 | grep -E '^[0-9]+$' | head -2)"
rising "\\copy to stdout" "$(commands "\\\\copy ($id) to stdout\n\\\\copy ($id) to stdout\n")"
rising "COPY TO STDOUT, csv" \
	"$(q -c "COPY ($id) TO STDOUT (FORMAT csv)" -c "COPY ($id) TO STDOUT WITH CSV HEADER" | grep -v next_id)"
rising "FETCH_COUNT with -c" "$(q -v FETCH_COUNT=10 -c "$id" -c "$id")"
rising "FETCH_COUNT: DECLARE, FETCH FORWARD" "$(commands "\\\\set FETCH_COUNT 10\n$id;\n$id;\n")"
rising "ON_ERROR_ROLLBACK: savepoints" "$(commands "\\\\set ON_ERROR_ROLLBACK on\nBEGIN;\n$id;\n$id;\nCOMMIT;\n" -q)"
equal "empty query, comment only" "$(q -c ";" -c "" -c "-- only a comment" -c "SELECT 1")" 1

state() { psql -X -At -v VERBOSITY=sqlstate -c "$1" 2>&1; }
matches "syntax error: 42601" "$(state "SELEC 1")" 42601
matches "undefined function: 42883" "$(state "SELECT no_such_function(1)")" 42883
matches "undefined table: 42P01" "$(state "SELECT * FROM no_such_table")" 42P01

for shape in "SELECT 1" "select version()" "select current_user" "SELECT current_database()" "SHOW server_version" \
	"select current_setting('server_version_num')" "$id AS id" "select next_id('orders')::bigint" \
	"select next_id('orders')::text" "SELECT public.next_id('orders')" "SELECT pg_catalog.nextval('orders')" \
	"select nextval('orders'::regclass)" "select nextval('public.orders')" "select nextval('\"orders\"')" \
	"SELECT id FROM ids WHERE name='orders'" "select next_id('orders'), next_id('orders_seq')" \
	"SELECT * FROM next_id('orders')" "SELECT next_id(E'orders')" "SELECT next_id(\$\$orders\$\$)" \
	"SELECT (next_id('orders'))" "$id FROM generate_series(1,3)" "select now()" "VALUES (next_id('orders'))" \
	"SELECT next_id(name := 'orders')" "SELECT CAST(next_id('orders') AS varchar)" "SELECT/*c*/next_id('orders')-- t"; do
	succeeds "$shape" q -c "$shape"
done

matches "\\conninfo" "$(q -c '\conninfo')" "connected to database"
matches "SET, SHOW, RESET ALL, DISCARD ALL" "$(q -q -c "SET client_encoding TO 'UTF8'" -c "SET application_name='x'" \
	-c "SET statement_timeout=0" -c "SET search_path TO public" -c "SHOW search_path" -c "RESET ALL" -c "DISCARD ALL")" public
equal "settings at start-up" "$(PGOPTIONS='-c statement_timeout=5s -c lock_timeout=1s' PGCLIENTENCODING=UTF8 PGTZ=UTC \
	PGAPPNAME=check q -c "SELECT 1")" 1

# interactive MARK INPUT: what psql prints on a terminal. It waits for the first prompt, and after INPUT for MARK.
interactive() {
	TERM=xterm python3 - "$@" <<'PYTHON' 2>&1
import os, pty, select, sys, time

pid, terminal = pty.fork()
if pid == 0:
    os.execvp("psql", ["psql", "-X", "-v", "ON_ERROR_STOP=0", "-v", "PROMPT1=ready> "])
out = b""


def await_for(mark):
    global out
    begin, end = len(out), time.time() + 60
    while mark not in out[begin:] and time.time() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                out += os.read(terminal, 65536)
            except OSError:
                return


await_for(b"ready> ")
os.write(terminal, sys.argv[2].encode().decode("unicode_escape").encode())
await_for(sys.argv[1].encode())
os.write(terminal, b"\\q\n")
sys.stdout.buffer.write(out)
PYTHON
}
answer=$(interactive "row)" "SELECT next_id('orders');\n" | tr -d '\r' | grep -cE '^ *[0-9]{1,20} *$')
equal "interactive session" "$answer" 1

if meta; then
	for command in '\l' '\dn' '\dt' '\d' '\df' '\df next_id' '\df+ next_id' '\d ids' '\d+ ids' '\d orders' '\ds' '\dv' '\du' '\dx' \
		'\sf next_id' '\dT' '\d+ orders' '\dp' '\db' '\des' '\di' '\dm' '\dp orders' '\do' '\dconfig server_version' '\z' '\dt *.*' \
		'\d+' '\dS' '\dn+' '\l+' '\du+' '\dT+' '\dT int8' '\dD' '\dC' '\doS' '\da' '\dE' '\det' '\dew' '\deu' '\dF' '\dy' \
		'\dO' '\dRp' '\dRs' '\dL' '\dLS' '\dc' '\dd' '\dl' '\dP' '\dX' '\dA' '\dAc' '\dAf' '\ddp' '\sv ids' '\sf+ next_id'; do
		succeeds "meta $command" q -c "$command"
	done
	succeeds "meta pg_dump" pg_dump
	matches "meta tab completion of functions" "$(interactive next_range '\\df next_r\t\t\x15' | tr -d '\r')" "next_range"
	matches "meta tab completion of tables" "$(interactive id_ranges 'SELECT * FROM id_r\t\t\x15' | tr -d '\r')" "id_ranges"
	matches "meta tab completion of settings" "$(interactive client_encoding 'SET client_e\t\t\x15' | tr -d '\r')" "client_encoding"
fi
exit $failed
