package sqlite

// Expressions for the checksum of a row, over all its other columns. The first
// argument distinguishes the tables.
const (
	reservationSum = checksumFunction + `('reservation', key, lo, hi, owner, alloc_seq, updated_at)`
	generatorSum   = checksumFunction + `('generator', name, kind, options, version, created_at, dropped)`
	metaSum        = checksumFunction + `('meta', store_id, created_at, opened_at, owner, machine, inode, reservations, hardware, volume, birth, seen_at)`
)

// sqliteDialect is written for the schema of migrations/store/sqlite. A row with a
// wrong checksum is never changed: the statement returns no row, and the reason is
// looked up afterwards.
//
// Reserve needs no check for overflow. SQLite turns a sum that does not fit into a
// floating-point number. That is greater than every bound, so min returns the
// bound.
var sqliteDialect = dialect{
	reserve: `
INSERT INTO nextid_reservations (key, lo, hi, owner, alloc_seq, updated_at, checksum)
SELECT key, lo, hi, owner, alloc_seq, updated_at, ` + reservationSum + `
FROM (SELECT key, lo, min(lo + n, bound) AS hi, owner, alloc_seq, updated_at
      FROM (SELECT ?1 AS key, max(?2, coalesce(old.hi, ?2)) AS lo, ?3 AS n, ?4 AS bound,
                   ?5 AS owner, coalesce(old.alloc_seq, 0) + 1 AS alloc_seq, ?6 AS updated_at
            FROM (SELECT 1)
            LEFT JOIN (SELECT *, checksum = ` + reservationSum + ` AS intact
                       FROM nextid_reservations WHERE key = ?1) AS old
            WHERE coalesce(old.intact, true))
      WHERE lo < bound)
WHERE true
ON CONFLICT (key) DO UPDATE SET lo = excluded.lo, hi = excluded.hi, owner = excluded.owner,
    alloc_seq = excluded.alloc_seq, updated_at = excluded.updated_at, checksum = excluded.checksum
RETURNING lo, hi`,

	standing: `
SELECT hi, checksum = ` + reservationSum + ` FROM nextid_reservations WHERE key = ?1`,

	release: `
UPDATE nextid_reservations
SET lo = back.lo, hi = back.hi, updated_at = back.updated_at, checksum = back.checksum
FROM (SELECT key, lo, hi, updated_at, ` + reservationSum + ` AS checksum
      FROM (SELECT key, min(lo, ?3) AS lo, ?3 AS hi, owner, alloc_seq, ?4 AS updated_at
            FROM nextid_reservations
            WHERE key = ?1 AND hi = ?2 AND ?3 <= ?2 AND checksum = ` + reservationSum + `)) AS back
WHERE nextid_reservations.key = back.key`,

	mark: `
SELECT key, hi, owner, updated_at, checksum = ` + reservationSum + ` FROM nextid_reservations WHERE key = ?1`,

	reserved: `
SELECT key, hi, owner, updated_at, checksum = ` + reservationSum + `
FROM nextid_reservations WHERE key >= ?1 AND (?2 = '' OR key < ?2) ORDER BY key`,

	define: `
INSERT INTO nextid_generators (name, kind, options, version, created_at, dropped, checksum)
SELECT name, kind, options, version, created_at, dropped, ` + generatorSum + `
FROM (SELECT ?1 AS name, ?2 AS kind, ?3 AS options, coalesce(old.version, 0) + 1 AS version,
             ?4 AS created_at, 0 AS dropped
      FROM (SELECT 1)
      LEFT JOIN (SELECT version, dropped AND checksum = ` + generatorSum + ` AS free
                 FROM nextid_generators WHERE name = ?1) AS old
      WHERE coalesce(old.free, true))
WHERE true
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, options = excluded.options, version = excluded.version,
    created_at = excluded.created_at, dropped = excluded.dropped, checksum = excluded.checksum
RETURNING version, created_at`,

	redefine: `
UPDATE nextid_generators
SET options = new.options, version = new.version, checksum = new.checksum
FROM (SELECT name, options, version, ` + generatorSum + ` AS checksum
      FROM (SELECT name, kind, ?3 AS options, version + 1 AS version, created_at, dropped
            FROM nextid_generators
            WHERE name = ?1 AND version = ?2 AND NOT dropped AND checksum = ` + generatorSum + `)) AS new
WHERE nextid_generators.name = new.name
RETURNING nextid_generators.kind, nextid_generators.version, nextid_generators.created_at`,

	undefine: `
UPDATE nextid_generators
SET dropped = 1, checksum = new.checksum
FROM (SELECT name, ` + generatorSum + ` AS checksum
      FROM (SELECT name, kind, options, version, created_at, 1 AS dropped
            FROM nextid_generators
            WHERE name = ?1 AND NOT dropped AND checksum = ` + generatorSum + `)) AS new
WHERE nextid_generators.name = new.name
RETURNING nextid_generators.version`,

	defined: `
SELECT name, kind, options, version, created_at, dropped, checksum = ` + generatorSum + `
FROM nextid_generators WHERE name = ?1`,

	list: `
SELECT name, kind, options, version, created_at, dropped, checksum = ` + generatorSum + `
FROM nextid_generators WHERE NOT dropped ORDER BY name`,

	count: `SELECT count(*) FROM nextid_generators`,
}

// Statements for the row of nextid_meta, which only the embedded store has.
const (
	metaInsert = `
INSERT INTO nextid_meta (id, store_id, created_at, opened_at, owner, machine, inode, reservations, hardware, volume,
                         birth, seen_at, checksum)
SELECT 1, *, ` + metaSum + `
FROM (SELECT ?1 AS store_id, ?2 AS created_at, ?2 AS opened_at, ?3 AS owner, '' AS machine, 0 AS inode,
             0 AS reservations, '' AS hardware, '' AS volume, '' AS birth, 0 AS seen_at)`

	metaSelect = `
SELECT store_id, machine, hardware, volume, inode, birth, reservations, seen_at, checksum = ` + metaSum + `
FROM nextid_meta WHERE id = 1`

	// metaOpened takes now, owner, machine, hardware, volume, inode, birth and seen.
	metaOpened = `
UPDATE nextid_meta
SET opened_at = new.opened_at, owner = new.owner, machine = new.machine, inode = new.inode, hardware = new.hardware,
    volume = new.volume, birth = new.birth, seen_at = new.seen_at, checksum = new.checksum
FROM (SELECT *, ` + metaSum + ` AS checksum
      FROM (SELECT store_id, created_at, ?1 AS opened_at, ?2 AS owner, ?3 AS machine, ?4 AS hardware, ?5 AS volume,
                   ?6 AS inode, ?7 AS birth, ?8 AS seen_at, reservations
            FROM nextid_meta WHERE id = 1 AND checksum = ` + metaSum + `)) AS new
WHERE id = 1
RETURNING reservations`

	// metaCount adds ?1 reservations and stores the time ?2.
	metaCount = `
UPDATE nextid_meta
SET reservations = new.reservations, seen_at = new.seen_at, checksum = new.checksum
FROM (SELECT reservations, seen_at, ` + metaSum + ` AS checksum
      FROM (SELECT store_id, created_at, opened_at, owner, machine, inode, reservations + ?1 AS reservations,
                   hardware, volume, birth, ?2 AS seen_at
            FROM nextid_meta WHERE id = 1 AND checksum = ` + metaSum + `)) AS new
WHERE id = 1
RETURNING nextid_meta.reservations`
)

// Statements that look for damage in an opened file. damagedRows returns a row
// whose checksum is wrong. countRows compares the sum of alloc_seq with the count
// in nextid_meta. That finds missing rows, and pages of the file that were replaced
// by older ones.
const (
	damagedRows = `
SELECT 'reservation', key FROM nextid_reservations WHERE checksum <> ` + reservationSum + `
UNION ALL SELECT 'generator', name FROM nextid_generators WHERE checksum <> ` + generatorSum + `
UNION ALL SELECT 'meta', store_id FROM nextid_meta WHERE checksum <> ` + metaSum + `
LIMIT 1`

	countRows = `
SELECT (SELECT count(*) FROM nextid_meta),
       (SELECT coalesce(sum(reservations), 0) FROM nextid_meta),
       (SELECT coalesce(sum(alloc_seq), 0) FROM nextid_reservations)`
)
