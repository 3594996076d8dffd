. "$VERDICT/verdict.sh"
version "$(sql2csv --version | awk '{print $2}')"
db=postgresql://$USER:$PASSWORD@$HOST:$PORT/$DB
rising "sql2csv, a function" "$(sql2csv --db "$db" --no-header-row --query "SELECT first, last FROM next_range('orders', 5)" | tr , ' ')"
equal "sql2csv, a table" "$(sql2csv --db "$db" --query "SELECT name, id > 0 AS drawn FROM ids WHERE name = 'orders'" | tail -1)" "orders,True"
exit $failed
