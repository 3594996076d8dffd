package shards_test

import (
	"strings"
	"testing"

	"nextid/migrations/shards"
)

// above checks that a new row of shard i has an id above all earlier ones.
func (f *fleet) above(i int, insert string, least int64) {
	f.t.Helper()
	var id int64
	if err := f.dbs[i].QueryRowContext(f.t.Context(), insert).Scan(&id); err != nil || id <= least {
		f.t.Errorf("%s on shard %d: %d, %v, not above %d", insert, i+1, id, err, least)
	}
}

// lacking checks that status reports a line that a shard does not have, or has under
// another name.
func (f *fleet) lacking(name string) {
	f.t.Helper()
	has(f.t, f.status(2).Missed, "there is no "+name+" that draws ids, as there is on another shard")
}

// testMariaDBBlindSpots checks unusual tables and settings.
func testMariaDBBlindSpots(t *testing.T, f *fleet) {
	f.everywhere("CREATE TABLE ratios (id DOUBLE AUTO_INCREMENT PRIMARY KEY)")
	f.exec(0, "INSERT INTO ratios VALUES (2000000)")
	has(t, f.status(2).Problems, "ratios.id is of type double, not an integer")
	f.everywhere("DROP TABLE ratios")
	f.everywhere("CREATE TABLE versions (id BIGINT AUTO_INCREMENT PRIMARY KEY) WITH SYSTEM VERSIONING")
	f.everywhere("CREATE TABLE nextid_orders (id BIGINT AUTO_INCREMENT PRIMARY KEY)")
	for _, table := range []string{"versions", "nextid_orders"} {
		f.exec(0, "INSERT INTO "+table+" VALUES (1000)")
		has(t, f.status(2).Problems, "for "+table+".id")
	}
	f.up(2)
	f.sound(2)
	f.renew()
	for _, table := range []string{"versions", "nextid_orders"} {
		f.above(1, "INSERT INTO "+table+" VALUES () RETURNING id", 1000)
	}
	f.renew()
	f.exec(1, "SET GLOBAL init_connect = 'SET SESSION auto_increment_increment = 1'")
	has(t, f.status(2).Missed, "init_connect sets auto_increment_…")
	f.exec(1, "SET GLOBAL init_connect = ''")
	f.sound(2)
	f.exec(1, "CREATE TABLE Lonely (id BIGINT AUTO_INCREMENT PRIMARY KEY)")
	f.lacking("Lonely.id")
	f.down(2)
}

func testPostgresBlindSpots(t *testing.T, f *fleet) {
	f.everywhere(`CREATE TABLE parts (id bigint PRIMARY KEY, note text) PARTITION BY RANGE (id);
		CREATE TABLE part (id bigserial PRIMARY KEY, note text);
		ALTER TABLE parts ATTACH PARTITION part DEFAULT;
		CREATE SEQUENCE seen; CREATE VIEW notes AS SELECT id, note FROM parts; ALTER VIEW notes ALTER id SET DEFAULT nextval('seen');
		CREATE TABLE nextid_orders (id bigserial PRIMARY KEY);
		CREATE SEQUENCE shared; CREATE TABLE ins (id bigint PRIMARY KEY DEFAULT nextval('shared')); CREATE TABLE outs (LIKE ins INCLUDING ALL)`)
	f.exec(0, "INSERT INTO part VALUES (1000, 'by hand'); INSERT INTO nextid_orders VALUES (1000); INSERT INTO ins VALUES (500)")
	has(t, f.status(2).Problems, "both draw 1 for part.id")
	has(t, f.status(2).Problems, "both draw 1 for nextid_orders.id")
	f.up(2)
	f.above(1, "INSERT INTO part (note) VALUES ('x') RETURNING id", 1000)
	f.above(1, "INSERT INTO nextid_orders DEFAULT VALUES RETURNING id", 1000)
	r := f.status(2)
	has(t, r.Missed, "sequence seen, which no column names")
	f.exclude = []string{"seen"}
	f.sound(2)

	// With row security, a role must get an error and not a part of the rows.
	f.exec(0, "ALTER TABLE orders ENABLE ROW LEVEL SECURITY; CREATE ROLE "+f.role()+" LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+f.role()+
		"; GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO "+f.role())
	_, err := shards.Status(t.Context(), []string{strings.Replace(f.dsns[0], "postgres@", f.role()+"@", 1), f.dsns[1]}, shards.Options{})
	fails(t, err, "row-level security")
	f.exec(0, "ALTER TABLE orders DISABLE ROW LEVEL SECURITY; DROP OWNED BY "+f.role()+"; DROP ROLE "+f.role())

	f.exec(1, "CREATE SCHEMA elsewhere; ALTER TABLE nextid_orders SET SCHEMA elsewhere")
	f.lacking("nextid_orders.id")
	f.everywhere("ALTER SEQUENCE shared RENAME TO common")
	f.down(2)
	f.asserts("SELECT seqincrement = 1 FROM pg_sequence WHERE seqrelid = 'common'::regclass")
}

// role returns a name that no other test uses for a role.
func (f *fleet) role() string {
	_, database, _ := strings.Cut(strings.TrimPrefix(f.dsns[0], "postgres://"), "/")
	database, _, _ = strings.Cut(database, "?")
	return "reader_" + database
}
