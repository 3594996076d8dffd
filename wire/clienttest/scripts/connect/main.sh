# The CONNECT engine in an application's MariaDB.
. "$VERDICT/verdict.sh"
. "$VERDICT/mariadb.sh"
app -e "INSTALL SONAME 'ha_connect'" >/dev/null
server="mysql://$USER:$PASSWORD@$HOST:$PORT/$DB"

succeeds "CREATE TABLE, SRCDEF" q "CREATE TABLE orders_id (id BIGINT NOT NULL) ENGINE=CONNECT TABLE_TYPE=MYSQL SRCDEF='SELECT next_id(''orders'') AS id' CONNECTION='$server'"
succeeds "CREATE TABLE, a table" q "CREATE TABLE ids (name VARCHAR(64) NOT NULL, id BIGINT NOT NULL) ENGINE=CONNECT TABLE_TYPE=MYSQL CONNECTION='$server/ids'"
succeeds "CREATE TABLE, columns found" q "CREATE TABLE found ENGINE=CONNECT TABLE_TYPE=MYSQL CONNECTION='$server/orders_id'"
succeeds "CREATE SERVER" q "CREATE SERVER cn FOREIGN DATA WRAPPER mysql OPTIONS (HOST '$HOST', PORT $PORT, USER '$USER', PASSWORD '$PASSWORD', DATABASE '$DB');
	CREATE TABLE by_server (id BIGINT NOT NULL) ENGINE=CONNECT TABLE_TYPE=MYSQL SRCDEF='SELECT next_id(''orders'') AS id' CONNECTION='cn'"
for sql in "SELECT id FROM orders_id" "SELECT id FROM ids WHERE name = 'orders'" "SELECT id FROM found" "SELECT id FROM by_server"; do
	rising "$sql" "$(q "$sql"; q "$sql")"
	rising "$sql, twice on a connection" "$(q "$sql; $sql")"
done
equal "100 ids at once" "$(q "CREATE TABLE many (id BIGINT NOT NULL) ENGINE=CONNECT TABLE_TYPE=MYSQL SRCDEF='SELECT id FROM next_ids(''orders'', 100) AS id' CONNECTION='$server';
	SELECT COUNT(DISTINCT id) FROM many")" 100
triggers "SRCDEF" "(SELECT id FROM orders_id)"
triggers "WHERE" "(SELECT id FROM ids WHERE name = 'orders')"
rising "a transaction" "$(q "START TRANSACTION; SELECT id FROM orders_id; SELECT id FROM orders_id; COMMIT")"
exit $failed
