# pgbouncer in front of the server.
. "$VERDICT/verdict.sh"
export PSQLRC=/dev/null PGCONNECT_TIMEOUT=4
PATH=$PATH:/usr/sbin:$(ls -d /usr/lib/postgresql/*/bin | tail -1)
version "$(pgbouncer --version | awk 'NR == 1 {print $2}')"
dir=$(mktemp -d)
trap '[ ! -f "$dir/pid" ] || kill "$(cat "$dir/pid")"; rm -rf "$dir"' EXIT
trap 'exit 1' TERM INT
id="SELECT next_id('orders')"
echo "$id;" >"$dir/id.sql"

# start MODE: pgbouncer on a Unix socket in $dir. It does not run as root.
start() {
	cat >"$dir/ini" <<-INI
		[databases]
		plain = host=$HOST port=$PORT dbname=$DB user=$USER password=$PASSWORD
		query = host=$HOST port=$PORT dbname=$DB user=$USER password=$PASSWORD connect_query='SELECT 1'
		[pgbouncer]
		listen_addr =
		listen_port = 6432
		unix_socket_dir = $dir
		auth_type = any
		pool_mode = $1
		default_pool_size = 2
		server_check_delay = 0
		server_check_query = select 1
		ignore_startup_parameters = extra_float_digits,options
		logfile = $dir/log
		pidfile = $dir/pid
	INI
	chmod 755 "$dir"
	if [ "$(id -u)" = 0 ]; then
		chown -R postgres "$dir"
		runuser -u postgres -- pgbouncer -d -q "$dir/ini"
	else
		pgbouncer -d -q "$dir/ini"
	fi
	for _ in $(seq 50); do
		[ -S "$dir/.s.PGSQL.6432" ] && return
		sleep 0.1
	done
}
stop() {
	local pid
	pid=$(cat "$dir/pid")
	kill "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
}
at() { echo "host=$dir port=6432 user=any dbname=$1"; }
q() { psql -X -At -q -v ON_ERROR_STOP=1 "$(at "${database:-plain}")" "$@" 2>&1; }

for mode in transaction session statement; do
	start $mode
	rising "$mode: two clients, checked and reset in between" "$(q -c "$id"; sleep 0.2; q -c "$id")"
	[ $mode = statement ] || rising "$mode: a transaction" "$(q -c BEGIN -c "$id" -c "$id" -c COMMIT)"
	equal "$mode: settings of the client" \
		"$(PGAPPNAME=check PGTZ=Europe/Paris PGDATESTYLE=ISO PGCLIENTENCODING=UTF8 q -c "SELECT 1")" 1
	for protocol in simple extended; do
		matches "$mode: pgbench, $protocol" \
			"$(pgbench -n -M $protocol -c 2 -t 3 -f "$dir/id.sql" "$(at plain)" 2>&1)" "failed transactions: 0"
	done
	rising "$mode: connect_query" "$(database=query q -c "$id"; database=query q -c "$id")"
	matches "$mode: SHOW SERVERS" "$(psql -X -At "host=$dir port=6432 user=pgbouncer dbname=pgbouncer" -c "SHOW SERVERS" 2>&1)" "|$PORT|"
	stop
done
exit $failed
