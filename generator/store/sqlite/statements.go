package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"modernc.org/sqlite"

	"nextid/generator"
	"nextid/generator/store/local"
)

// Columns of the tables (migrations/store/sqlite) but the checksum, which is over
// all of them. Its first argument distinguishes the tables. A row with a wrong
// checksum is never changed: reading it, which comes first, returns an error.
const (
	lineColumns       = `key, lo, hi, owner, alloc_seq, updated_at`
	definitionColumns = `name, kind, options, version, created_at, dropped`
	metaColumns       = `store_id, created_at, opened_at, owner, machine, inode, reservations, hardware, volume, birth, seen_at`

	lineSum       = checksumFunction + `('reservation', ` + lineColumns + `)`
	definitionSum = checksumFunction + `('generator', ` + definitionColumns + `)`
	metaSum       = checksumFunction + `('meta', ` + metaColumns + `)`
)

// Statements of a session, all of them prepared.
const (
	begin  = `BEGIN IMMEDIATE`
	commit = `COMMIT`

	selectLine    = `SELECT ` + lineColumns + `, checksum = ` + lineSum + ` FROM nextid_reservations WHERE `
	lineByKey     = selectLine + `key = ?1`
	linesByPrefix = selectLine + `key >= ?1 AND key < ?1 || char(0x10ffff) ORDER BY key` // keys are UTF-8
	replaceLine   = `REPLACE INTO nextid_reservations (` + lineColumns + `, checksum)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ` + checksumFunction + `('reservation', ?1, ?2, ?3, ?4, ?5, ?6))`

	selectDefinition  = `SELECT ` + definitionColumns + `, checksum = ` + definitionSum + ` FROM nextid_generators WHERE `
	definitionByName  = selectDefinition + `name = ?1`
	definitions       = selectDefinition + `NOT dropped ORDER BY name`
	countDefinitions  = `SELECT count(*) FROM nextid_generators`
	replaceDefinition = `REPLACE INTO nextid_generators (` + definitionColumns + `, checksum)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ` + checksumFunction + `('generator', ?1, ?2, ?3, ?4, ?5, ?6))`

	selectMeta  = `SELECT ` + metaColumns + `, checksum = ` + metaSum + ` FROM nextid_meta WHERE id = 1`
	replaceMeta = `REPLACE INTO nextid_meta (id, ` + metaColumns + `, checksum)
VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ` +
		checksumFunction + `('meta', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11))`
)

var prepared = []string{
	begin, commit, lineByKey, linesByPrefix, replaceLine, definitionByName, definitions, countDefinitions, replaceDefinition,
	selectMeta, replaceMeta,
}

// Queries that look for damage in an opened file. damagedRows returns a row whose
// checksum is wrong. The sum of all alloc_seq is the number of reservations in
// nextid_meta. If they differ, rows are missing, or pages of the file were replaced
// by older ones.
const (
	damagedRows = `
SELECT 'reservation', key FROM nextid_reservations WHERE checksum <> ` + lineSum + `
UNION ALL SELECT 'generator', name FROM nextid_generators WHERE checksum <> ` + definitionSum + `
UNION ALL SELECT 'meta', store_id FROM nextid_meta WHERE checksum <> ` + metaSum + `
LIMIT 1`
	countReservations = `SELECT coalesce(sum(alloc_seq), 0) FROM nextid_reservations`
)

// scanner is implemented by *sql.Row and *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

func scanLine(row scanner) (l local.Line, err error) {
	var updated int64
	var intact bool
	if err = row.Scan(&l.Key, &l.Lo, &l.Hi, &l.Owner, &l.Seq, &updated, &intact); err == nil && !intact {
		err = damagedRow("reservation", l.Key)
	}
	l.Updated = time.UnixMilli(updated)
	return l, err
}

func (q *session) Line(key string) (local.Line, error) {
	l, err := scanLine(q.row(lineByKey, key))
	if errors.Is(err, sql.ErrNoRows) {
		return local.Line{}, nil
	}
	return l, err
}

func (q *session) PutLine(l local.Line, granted int64) error {
	q.granted += granted
	return q.exec(replaceLine, l.Key, l.Lo, l.Hi, l.Owner, l.Seq, l.Updated.UnixMilli())
}

func (q *session) Marks(prefix string) ([]generator.Mark, error) {
	return collect(q, func(row scanner) (generator.Mark, error) {
		l, err := scanLine(row)
		return l.Mark, err
	}, linesByPrefix, prefix)
}

func scanEntry(row scanner) (e local.Entry, err error) {
	var options string
	var created int64
	var intact bool
	if err = row.Scan(&e.Name, &e.Kind, &options, &e.Version, &created, &e.Dropped, &intact); err == nil && !intact {
		err = damagedRow("generator", e.Name)
	}
	e.Options, e.Created = json.RawMessage(options), time.UnixMilli(created)
	return e, err
}

func (q *session) Entry(name string) (local.Entry, error) {
	e, err := scanEntry(q.row(definitionByName, name))
	if errors.Is(err, sql.ErrNoRows) {
		return local.Entry{}, nil
	}
	return e, err
}

func (q *session) PutEntry(e local.Entry) error {
	return q.exec(replaceDefinition, e.Name, e.Kind, string(e.Options), e.Version, e.Created.UnixMilli(), e.Dropped)
}

func (q *session) Definitions() ([]generator.Definition, error) {
	return collect(q, func(row scanner) (generator.Definition, error) {
		e, err := scanEntry(row)
		return e.Definition, err
	}, definitions)
}

func (q *session) Count() (n int, err error) {
	err = q.row(countDefinitions).Scan(&n)
	return n, err
}

// meta is the row of nextid_meta.
type meta struct {
	storeID             string
	createdAt, openedAt int64 // Unix ms
	owner               string
	reservations        int64 // of all keys, since the store was created
	seenAt              int64 // Unix ms, see seen
	binding
}

// meta reads the row of nextid_meta.
func (q *session) meta() (m meta, err error) {
	var inode int64
	var intact bool
	err = q.row(selectMeta).Scan(&m.storeID, &m.createdAt, &m.openedAt, &m.owner, &m.machine, &inode, &m.reservations,
		&m.hardware, &m.volume, &m.birth, &m.seenAt, &intact)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !intact {
		err = damagedRow("meta", "1")
	}
	m.inode = uint64(inode)
	return m, err
}

func (q *session) putMeta(m meta) error {
	return q.exec(replaceMeta, m.storeID, m.createdAt, m.openedAt, m.owner, m.machine, int64(m.inode), m.reservations,
		m.hardware, m.volume, m.birth, m.seenAt)
}

// checksumFunction is the SQL function that computes all checksum columns.
const checksumFunction = "nextid_crc32c"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rowChecksum returns the CRC-32C of integers and texts in their order. Type and
// length precede each value, so that two different rows never have the same input.
func rowChecksum(values []driver.Value) (int64, error) {
	var input []byte
	for i, v := range values {
		switch v := v.(type) {
		case int64:
			input = binary.BigEndian.AppendUint64(append(input, 'i'), uint64(v))
		case string:
			input = binary.BigEndian.AppendUint64(append(input, 't'), uint64(len(v)))
			input = append(input, v...)
		default:
			return 0, fmt.Errorf("%s: argument %d is a %T", checksumFunction, i+1, v)
		}
	}
	return int64(crc32.Checksum(input, castagnoli)), nil
}

// sqliteDriver is a driver of this package alone. So its SQL function cannot clash
// with other users of SQLite in the process.
var sqliteDriver = sync.OnceValue(func() *sqlite.Driver {
	d := new(sqlite.Driver)
	d.MustRegisterDeterministicScalarFunction(checksumFunction, -1,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return rowChecksum(args) })
	return d
})
