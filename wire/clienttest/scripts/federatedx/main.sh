# FederatedX in an application's MariaDB.
. "$VERDICT/verdict.sh"
. "$VERDICT/mariadb.sh"
app -e "INSTALL SONAME 'ha_federatedx'" >/dev/null
server="mysql://$USER:$PASSWORD@$HOST:$PORT/$DB"

succeeds "CREATE TABLE, a URL" q "CREATE TABLE orders_id (id BIGINT) ENGINE=FEDERATED CONNECTION='$server/orders_id'"
succeeds "CREATE TABLE ids without a key" q "CREATE TABLE ids_all (name VARCHAR(64) CHARACTER SET utf8mb4, id BIGINT) ENGINE=FEDERATED CONNECTION='$server/ids'"
succeeds "CREATE TABLE ids with a key" q "CREATE TABLE ids (name VARCHAR(64) CHARACTER SET utf8mb4 NOT NULL PRIMARY KEY, id BIGINT) ENGINE=FEDERATED CONNECTION='$server/ids'"
succeeds "CREATE SERVER" q "CREATE SERVER fx FOREIGN DATA WRAPPER mysql OPTIONS (HOST '$HOST', PORT $PORT, USER '$USER', PASSWORD '$PASSWORD', DATABASE '$DB');
	CREATE TABLE by_server (id BIGINT) ENGINE=FEDERATED CONNECTION='fx/orders_id'"
for sql in "SELECT id FROM orders_id" "SELECT id FROM by_server" \
	"SELECT id FROM ids WHERE name = 'orders'" "SELECT id FROM orders_id LIMIT 1" "SELECT MAX(id) FROM orders_id"; do
	rising "$sql" "$(q "$sql"; q "$sql")"
	rising "$sql, twice on a connection" "$(q "$sql; $sql")"
done
equal "ids without a key, which asks for no name" "$(q "SELECT DISTINCT COALESCE(id, 'NULL') FROM ids_all WHERE name = 'orders'")" NULL
triggers "a table" "(SELECT id FROM orders_id)"
triggers "a key" "(SELECT id FROM ids WHERE name = 'orders')"
succeeds "CREATE FUNCTION" q "CREATE FUNCTION next_id(n VARCHAR(64)) RETURNS BIGINT NOT DETERMINISTIC READS SQL DATA RETURN (SELECT id FROM ids WHERE name = n)"
triggers "a function" "next_id('orders')"
rising "a transaction" "$(q "START TRANSACTION; SELECT id FROM orders_id; SELECT id FROM orders_id; COMMIT")"
succeeds "a rollback" q "START TRANSACTION; SELECT id FROM orders_id; ROLLBACK"
succeeds "INSERT SELECT" q "CREATE TABLE copied (id BIGINT); INSERT INTO copied SELECT id FROM orders_id"
succeeds "SHOW TABLE STATUS, DESCRIBE, FLUSH TABLES, CHECK TABLE" q "SHOW TABLE STATUS LIKE 'orders_id'; DESCRIBE orders_id; FLUSH TABLES;
	SELECT id FROM orders_id; CHECK TABLE orders_id"
app -e "FLUSH TABLES" >/dev/null
exit $failed
