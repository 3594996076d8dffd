# The actions of check_postgres that mean something for an id server.
. "$VERDICT/verdict.sh"
export PGPASSWORD=$PASSWORD
version "$(check_postgres --version | awk '{print $3; exit}')"
action() { check_postgres --action="$1" --host="$HOST" --port="$PORT" --dbuser="$USER" --dbname="$DB" "${@:2}" 2>&1 | head -1; }
PGHOST=$HOST PGPORT=$PORT PGUSER=$USER PGDATABASE=$DB psql -X -q -c "SELECT nextval('orders')" >/dev/null
matches "connection" "$(action connection)" "CONNECTION OK"
matches "backends" "$(action backends)" "BACKENDS OK"
matches "sequence" "$(action sequence)" "SEQUENCE OK"
matches "query_time" "$(action query_time --critical=60)" "QUERY_TIME OK"
matches "txn_idle" "$(action txn_idle --critical=60)" "TXN_IDLE OK"
matches "custom_query" "$(action custom_query --query="SELECT next_id('orders') AS result" --warning=9223372036854775806)" "CUSTOM_QUERY OK"
if meta; then
	matches "meta database_size" "$(action database_size --critical=1GB)" "DATABASE_SIZE OK"
	matches "meta disk_space" "$(action disk_space --warning=100% --critical=100%)" "DISK_SPACE"
	matches "meta txn_wraparound" "$(action txn_wraparound)" "TXN_WRAPAROUND OK"
	matches "meta same_schema" "$(cd "$(mktemp -d)" && check_postgres --action=same_schema --host="$HOST" --port="$PORT,$PORT" --dbuser="$USER" --dbname="$DB,$DB" 2>&1 | head -1)" "POSTGRES_SAME_SCHEMA"
	matches "meta dbstats" "$(action dbstats)" "backends:"
	matches "meta prepared_txns" "$(action prepared_txns)" "PREPARED_TXNS OK"
	matches "meta disabled_triggers" "$(action disabled_triggers)" "TRIGGERS OK"
fi
exit $failed
