# What the engines of an application's MariaDB have in common: APP is the socket of its server. To be sourced after verdict.sh.
app() { mariadb --no-defaults -N -B -S "$APP" -uroot "$@" 2>&1; }
q() { app "$CLIENT" -e "$1"; }
version "$(app -e "SELECT substring_index(version(), '-', 1)")"
app -e "CREATE OR REPLACE DATABASE $CLIENT" >/dev/null

# triggers DRAW: a table o whose ids a trigger draws with the expression, and checks of it.
triggers() {
	local name=$1
	succeeds "$name: trigger" q "CREATE OR REPLACE TABLE o (id BIGINT NOT NULL DEFAULT 0 PRIMARY KEY, note TEXT);
		CREATE TRIGGER o_id BEFORE INSERT ON o FOR EACH ROW SET NEW.id = $2"
	equal "$name: INSERT of 3 rows" "$(q "INSERT INTO o (note) VALUES ('a'), ('b'), ('c'); SELECT COUNT(DISTINCT id), MIN(id) > 0 FROM o")" "3	1"
	equal "$name: INSERT SELECT of 20 rows" "$(q "DELETE FROM o; INSERT INTO o (note) SELECT seq FROM seq_1_to_20; SELECT COUNT(DISTINCT id) FROM o")" 20
	rising "$name: INSERT RETURNING" "$(q "INSERT INTO o (note) VALUES ('a') RETURNING id; INSERT INTO o (note) VALUES ('b') RETURNING id")"
}
