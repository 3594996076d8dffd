# The services of check_pgactivity that mean something for an id server.
. "$VERDICT/verdict.sh"
export PGPASSWORD=$PASSWORD
check=/usr/lib/nagios/plugins/check_pgactivity
version "$(perl $check --version | awk '{print $3; exit}' | tr -d ,)"
notes=$(mktemp -d)
trap 'rm -r "$notes"' EXIT
service() {
	perl $check --service="$1" --host="$HOST" --port="$PORT" --username="$USER" --dbname="$DB" --status-file="$notes/status" "${@:2}" 2>&1 | head -2
}
PGHOST=$HOST PGPORT=$PORT PGUSER=$USER PGDATABASE=$DB psql -X -q -c "SELECT nextval('orders')" >/dev/null
matches "connection" "$(service connection)" "CONNECTION OK"
matches "backends" "$(service backends -w 80% -c 90%)" "BACKENDS OK"
matches "backends_status" "$(service backends_status -w idle=4000 -c idle=5000)" "BACKENDS_STATUS OK"
matches "longest_query" "$(service longest_query -w 1m -c 2m)" "LONGEST_QUERY OK"
matches "oldest_idlexact" "$(service oldest_idlexact -w 1m -c 2m)" "OLDEST_IDLEXACT OK"
matches "sequences_exhausted" "$(service sequences_exhausted -w 100% -c 100%)" "SEQ_EXHAUSTED OK"
matches "custom_query" "$(service custom_query --query="SELECT next_id('orders')" --type=integer -w 9223372036854775806 -c 9223372036854775807)" "CUSTOM_QUERY OK"
if meta; then
	matches "meta database_size" "$(service database_size -w 1GB -c 2GB)" "DB_SIZE OK"
	matches "meta settings" "$(service settings)" "SETTINGS OK"
	matches "meta oldest_2pc" "$(service oldest_2pc -w 1h -c 2h)" "OLDEST_2PC OK"
	matches "meta is_master" "$(service is_master)" "IS_MASTER OK"
fi
exit $failed
