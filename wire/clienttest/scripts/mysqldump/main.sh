# mysqldump dumps a server without tables of its own: it reads no row, so that no id is drawn.
. "$VERDICT/verdict.sh"
export MYSQL_PWD=$PASSWORD
server="--no-defaults -h$HOST -P$PORT -u$USER --protocol=tcp"
version "$(mariadb-dump --version | sed 's/.*Distrib \([0-9.]*\).*/\1/')"
dump() { mariadb-dump $server "$@" 2>&1; }
matches "a database" "$(dump "$DB")" "Dump completed"
matches "--single-transaction" "$(dump --single-transaction "$DB")" "Dump completed"
matches "--no-data --routines --triggers --events" "$(dump --no-data --routines --triggers --events "$DB")" "Dump completed"
matches "--databases" "$(dump --databases "$DB")" "USE \`$DB\`"
mariadb $server "$DB" -e "SELECT next_id('orders')" >/dev/null
matches "a generator by its name, as a sequence" "$(dump "$DB" orders)" "DO SETVAL(\`orders\`, "
exit $failed
