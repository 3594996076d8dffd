-- The shared store on PostgreSQL, CockroachDB or YugabyteDB: plain SQL only.
--
-- nextid itself needs only these rights, for a role NAME of its own:
--
--   GRANT SELECT, INSERT, UPDATE ON nextid_reservations, nextid_generators TO NAME;
--
-- Times are Unix milliseconds by the clock of the nextid server.

-- +goose Up

-- One row per key: hi is the end (exclusive) of all reservations so far.
CREATE TABLE nextid_reservations (
    key        text   NOT NULL PRIMARY KEY CHECK (key <> ''),
    lo         bigint NOT NULL,                 -- start of the last reservation
    hi         bigint NOT NULL CHECK (hi >= lo),
    seq        bigint NOT NULL CHECK (seq > 0), -- reservations of this key so far
    stamp      text   NOT NULL,                 -- database server and timeline that wrote the row last
    owner      text   NOT NULL,                 -- nextid server that reserved last
    updated_at bigint NOT NULL
);

-- One row per name. The row of a dropped name stays, so that its version only grows.
CREATE TABLE nextid_generators (
    name       text    NOT NULL PRIMARY KEY CHECK (name <> ''),
    kind       text    NOT NULL,
    options    text    NOT NULL, -- JSON, byte for byte as the kind wrote it
    version    bigint  NOT NULL CHECK (version > 0),
    created_at bigint  NOT NULL,
    dropped    boolean NOT NULL
);

-- +goose Down
DROP TABLE IF EXISTS nextid_generators;
DROP TABLE IF EXISTS nextid_reservations;
