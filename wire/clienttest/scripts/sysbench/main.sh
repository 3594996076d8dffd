. "$VERDICT/verdict.sh"
version "$(sysbench --version | awk '{print $2}')"
script=$(mktemp --suffix=.lua)
trap 'rm -f "$script"' EXIT
cat >"$script" <<'LUA'
function thread_init()
   connection = sysbench.sql.driver():connect()
   statement = connection:prepare("SELECT next_id('orders')")
end

function event()
   local id = tonumber(connection:query_row("SELECT next_id('orders')"))
   if not id or id < 1 then error("no id") end
   if os.getenv("PREPARED") then statement:execute() end
end

function thread_done()
   connection:disconnect()
end
LUA
driver=pgsql
[ "$PROTOCOL" = mysql ] && driver=mysql
bench() {
	sysbench "--db-driver=$driver" "--$driver-host=$HOST" "--$driver-port=$PORT" "--$driver-user=$USER" "--$driver-password=$PASSWORD" \
		"--$driver-db=$DB" --threads=1 --events=3 --time=10 "$@" "$script" run 2>&1
}
matches "queries" "$(bench --db-ps-mode=disable)" "total number of events:              3"
matches "prepared statements" "$(PREPARED=1 bench --db-ps-mode=auto)" "total number of events:              3"
exit $failed
