# The monitoring plugins of Nagios and Icinga.
. "$VERDICT/verdict.sh"
plugins=/usr/lib/nagios/plugins
if [ "$PROTOCOL" = mysql ]; then
	server="-H $HOST -P $PORT -u $USER -p $PASSWORD"
	version "$($plugins/check_mysql --version | awk '{print $2}')"
	matches "check_mysql" "$($plugins/check_mysql $server 2>&1)" "Uptime:"
	matches "check_mysql_query" "$($plugins/check_mysql_query $server -d "$DB" -q "SELECT next_id('orders')" 2>&1)" "QUERY OK"
else
	server="-H $HOST -P $PORT -d $DB -l $USER -p $PASSWORD"
	version "$($plugins/check_pgsql --version | awk '{print $2}')"
	matches "check_pgsql" "$($plugins/check_pgsql $server 2>&1)" "OK - database"
	matches "check_pgsql with a query" "$($plugins/check_pgsql $server -q "SELECT next_id('orders')" 2>&1)" "QUERY OK"
fi
exit $failed
