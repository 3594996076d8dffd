# SPIDER in an application's MariaDB.
. "$VERDICT/verdict.sh"
. "$VERDICT/mariadb.sh"
app -e "INSTALL SONAME 'ha_spider'" >/dev/null
for _ in $(seq 50); do # it makes tables of its own, in the background
	[ -z "$(app -e "SELECT 1 FROM information_schema.tables WHERE table_schema = 'mysql' AND table_name = 'spider_tables'")" ] || break
	sleep 0.1
done

succeeds "CREATE SERVER" q "CREATE SERVER sp FOREIGN DATA WRAPPER mysql OPTIONS (HOST '$HOST', PORT $PORT, USER '$USER', PASSWORD '$PASSWORD', DATABASE '$DB')"
succeeds "CREATE TABLE" q "CREATE TABLE orders_id (id BIGINT) ENGINE=SPIDER COMMENT='wrapper \"mysql\", srv \"sp\", table \"orders_id\"';
	CREATE TABLE ids (name VARCHAR(64) NOT NULL PRIMARY KEY, id BIGINT) ENGINE=SPIDER COMMENT='wrapper \"mysql\", srv \"sp\", table \"ids\"'"
for sql in "SELECT id FROM orders_id" "SELECT id FROM ids WHERE name = 'orders'"; do
	rising "$sql" "$(q "$sql"; q "$sql")"
	rising "$sql, twice on a connection" "$(q "$sql; $sql")"
done
triggers "a table" "(SELECT id FROM orders_id)"
triggers "a key" "(SELECT id FROM ids WHERE name = 'orders')"
rising "a transaction" "$(q "START TRANSACTION; SELECT id FROM orders_id; SELECT id FROM orders_id; COMMIT")"
succeeds "a rollback" q "START TRANSACTION; SELECT id FROM orders_id; ROLLBACK"
app -e "FLUSH TABLES" >/dev/null
exit $failed
