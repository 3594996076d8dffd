. "$VERDICT/verdict.sh"
export MYSQL_PWD=$PASSWORD
server="--no-defaults -h$HOST -P$PORT -u$USER --protocol=tcp"
version "$(mariadb --version | sed 's/.*Distrib \([0-9.]*\).*/\1/')"

q() { mariadb $server -N -B "$DB" "$@" 2>&1; }
shown() { mariadb $server "$@" 2>&1; } # with headers, as a person sees it
# commands TEXT: mariadb reads it, as printf prints it, from standard input.
commands() { printf "$1" | q; }
id="SELECT next_id('orders')"

rising "-e, twice" "$(q -e "$id"; q -e "$id")"
rising "two statements, which the client parts" "$(q -e "$id; $id")"
rising "delimiter: two statements in one packet" "$(commands "delimiter //\n$id; $id//\n")"
rising "standard input" "$(commands "$id;\n$id AS id;\n")"
rising "source" "$(file=$(mktemp) && echo "$id; $id;" >"$file" && q -e "source $file" && rm "$file")"
rising "START TRANSACTION, COMMIT" "$(q -e "START TRANSACTION; $id; $id; COMMIT")"
rising "autocommit, BEGIN, ROLLBACK" "$(q -e "SET autocommit=0; BEGIN; $id; ROLLBACK; SET autocommit=1; $id")"
rising "PREPARE, EXECUTE USING" "$(q -e "PREPARE p FROM 'SELECT next_id(?)'; SET @n = 'orders'; EXECUTE p USING @n; EXECUTE p USING @n; DEALLOCATE PREPARE p")"
rising "variables" "$(q -e "SET @x = next_id('orders'); SELECT @x; $id INTO @y; SELECT @y")"
rising "NEXT VALUE FOR, NEXTVAL" "$(q -e "SELECT NEXT VALUE FOR orders; SELECT NEXTVAL(orders)")"
equal "next_ids" "$(q -e "SELECT id FROM next_ids('orders', 3) AS id" | wc -l)" 3
equal "LAST_INSERT_ID after DO" "$(q -e "DO next_id('orders'); SET @x = LAST_INSERT_ID(); SELECT @x = LAST_INSERT_ID() AND @x > 0")" 1
matches "a table with the column's name" "$(shown -t "$DB" -e "$id AS id")" "| id "
matches "a column without an alias is named as typed" "$(shown "$DB" -e "$id")" "next_id('orders')"
matches "type LONGLONG" "$(shown -t --column-type-info "$DB" -e "$id AS id")" LONGLONG
matches "\\G" "$(shown "$DB" -e "$id AS id\\G")" "id: "
matches "--xml" "$(shown --xml "$DB" -e "$id AS id")" '<field name="id">'
matches "status" "$(shown "$DB" -e status)" "Server version"
equal "use" "$(q -e "use $DB; SELECT database()")" "$DB"
rising "--compress, which the server does not offer" "$(q --compress -e "$id; $id")"
rising "--init-command, --default-character-set" "$(q --default-character-set=utf8mb4 --init-command="SET sql_mode='STRICT_ALL_TABLES'" -e "$id; $id")"
rising "--safe-updates" "$(q --safe-updates -e "$id; $id")"
rising "--quick" "$(q --quick -e "$id; $id")"
rising "--binary-mode, latin1" "$(q --binary-mode --default-character-set=latin1 -e "$id; $id")"

matches "syntax error: 1064" "$(q -e "SELEC 1")" "ERROR 1064 (42000)"
matches "no such function: 1305" "$(q -e "SELECT no_such_function(1)")" "ERROR 1305 (42000)"
matches "no such table: 1146" "$(q -e "SELECT * FROM no_such_table")" "ERROR 1146 (42S02)"
matches "no such connection: 1094" "$(q -e "KILL QUERY 999999")" "ERROR 1094 (HY000)"

for shape in "SELECT 1" "select @@version_comment limit 1" "select version()" "select @@version" "$id AS id" 'SELECT next_id("orders")' \
	'SELECT `next_id`('"'orders')" "SELECT $DB.next_id('orders')" "$id FROM DUAL" "SELECT CAST(next_id('orders') AS CHAR)" \
	"SELECT CONVERT(next_id('orders'), CHAR)" "SELECT id FROM ids WHERE name='orders'" "SELECT next_id('orders'), next_id('orders_seq')" \
	"SELECT /*+ x */ next_id('orders')" "SELECT SQL_NO_CACHE next_id('orders')" "SELECT nextval('orders')" "SELECT last_insert_id()" \
	"SHOW WARNINGS" "SELECT connection_id()" "SELECT current_user()" "SELECT now()" "SHOW STATUS LIKE 'Uptime'" "SET NAMES utf8mb4" \
	"SET SESSION sql_mode='ANSI_QUOTES'" "/*!40101 SET NAMES utf8 */"; do
	succeeds "$shape" q -e "$shape"
done
for command in ping status version extended-status processlist variables; do
	succeeds "mariadb-admin $command" mariadb-admin $server $command
done

# interactive: what mariadb prints on a terminal, with the names of tables completed.
interactive() {
	TERM=xterm python3 - mariadb $server "$DB" <<'PYTHON' 2>&1
import os, pty, select, sys, time

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
out = b""


def read(text, seconds=5):
    """Reads until the text is there."""
    global out
    end = time.time() + seconds
    while text not in out and time.time() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                out += os.read(terminal, 65536)
            except OSError:
                return


read(b"]> ")
for typed, answer in [
    (b"SELECT next_id('orders');\n", b"1 row in set"),
    (b"\\s\n", b"Server version"),
    (b"\\u %s\n" % os.environ["DB"].encode(), b"Database changed"),
    (b"SELECT next_id('orders'), 'again';\n", b"1 row in set"),
    (b"SELECT * FROM orders_\t", b"orders_id"),
    (b"\x15\\q\n", b"Bye"),
]:
    shown, out = out if typed == b"" else b"", b""
    os.write(terminal, typed)
    read(answer)
    sys.stdout.buffer.write(out)
PYTHON
}
answer=$(interactive | tr -d '\r')
equal "interactive session" "$(echo "$answer" | grep -cE '^\| +[0-9]{1,20} \|')" 2
matches "interactive completion (COM_FIELD_LIST), \\s, \\u" "$answer" "Database changed"

if meta; then
	for statement in "SHOW DATABASES" "SHOW TABLES" "SHOW FULL TABLES" "SHOW TABLE STATUS" "SHOW FULL COLUMNS FROM ids" "SHOW CREATE TABLE ids" \
		"DESCRIBE ids" "SHOW INDEX FROM ids" "SHOW FUNCTION STATUS LIKE 'next_id'" "SHOW PROCEDURE STATUS" "SHOW TRIGGERS" "SHOW EVENTS" \
		"SHOW PROCESSLIST" "SHOW FULL PROCESSLIST" "SHOW ENGINES" "SHOW PLUGINS" "SHOW VARIABLES LIKE 'version%'" "SHOW GLOBAL STATUS" \
		"SHOW CHARACTER SET" "SHOW COLLATION" "SHOW GRANTS" "SHOW PRIVILEGES" "SHOW OPEN TABLES" "SHOW ERRORS" \
		"SELECT * FROM information_schema.tables" "SELECT * FROM information_schema.columns WHERE table_name = 'ids'" \
		"SELECT * FROM information_schema.routines" "SELECT * FROM information_schema.schemata" "EXPLAIN $id"; do
		succeeds "meta $statement" q -e "$statement"
	done
	matches "meta mariadb-show" "$(mariadb-show $server 2>&1)" "$DB"
	matches "meta mariadb-show of a table" "$(mariadb-show $server "$DB" ids 2>&1)" "bigint"
fi
exit $failed
