-- The embedded store: one SQLite file in the data directory of one server.
--
-- Every row has a checksum (CRC-32C over its other columns, see package
-- sqlite). The server refuses a row that was damaged, or changed by hand.
-- Times are Unix milliseconds.

-- +goose Up
PRAGMA application_id = 0x6e786964; -- "nxid"
PRAGMA user_version = 1;

-- One row: identifies the store, and the machine and file that it belongs to.
CREATE TABLE nextid_meta (
    id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    store_id     TEXT    NOT NULL CHECK (length(store_id) = 32), -- random, the same for the life of the store
    created_at   INTEGER NOT NULL,
    opened_at    INTEGER NOT NULL,
    owner        TEXT    NOT NULL,                               -- server that opened it last
    machine      TEXT    NOT NULL,                               -- digest of the machine's id, '' when unknown
    inode        INTEGER NOT NULL,                               -- of this file, 0 if the file system has none that is stable
    reservations INTEGER NOT NULL CHECK (reservations >= 0),     -- sum of alloc_seq below
    checksum     INTEGER NOT NULL
) STRICT;

-- One row per key: hi is the end (exclusive) of all reservations so far.
CREATE TABLE nextid_reservations (
    key        TEXT    NOT NULL PRIMARY KEY CHECK (key <> ''),
    lo         INTEGER NOT NULL,                       -- start of the last reservation
    hi         INTEGER NOT NULL CHECK (hi >= lo),
    owner      TEXT    NOT NULL,                       -- server that reserved last
    alloc_seq  INTEGER NOT NULL CHECK (alloc_seq > 0), -- reservations of this key so far
    updated_at INTEGER NOT NULL,
    checksum   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per name. The row of a dropped name stays, so that its version only grows.
CREATE TABLE nextid_generators (
    name       TEXT    NOT NULL PRIMARY KEY CHECK (name <> ''),
    kind       TEXT    NOT NULL,
    options    TEXT    NOT NULL, -- JSON, byte for byte as the kind wrote it
    version    INTEGER NOT NULL CHECK (version > 0),
    created_at INTEGER NOT NULL,
    dropped    INTEGER NOT NULL CHECK (dropped IN (0, 1)),
    checksum   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE nextid_generators;
DROP TABLE nextid_reservations;
DROP TABLE nextid_meta;
PRAGMA user_version = 0;
PRAGMA application_id = 0;
