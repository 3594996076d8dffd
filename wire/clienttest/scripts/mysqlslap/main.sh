. "$VERDICT/verdict.sh"
version "$(mariadb-slap --version | sed 's/.*Distrib \([0-9.]*\).*/\1/')"
slap() {
	MYSQL_PWD=$PASSWORD mariadb-slap --no-defaults -h"$HOST" -P"$PORT" -u"$USER" --protocol=tcp --create-schema="$DB" --no-drop \
		--query="SELECT next_id('orders')" --iterations=1 "$@" 2>&1
}
matches "two connections" "$(slap --concurrency=2 --number-of-queries=20)" "Average number of queries per client: 10"
matches "a connection for each 2 queries" "$(slap --concurrency=1 --number-of-queries=10 --detach=2)" "Average number of queries per client: 10"
exit $failed
