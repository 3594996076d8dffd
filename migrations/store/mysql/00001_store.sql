-- The shared store on MySQL, MariaDB, TiDB or Vitess.
--
-- nextid itself needs only these rights, for an account NAME of its own:
--
--   GRANT SELECT, INSERT, UPDATE ON nextid_reservations TO NAME;
--   GRANT SELECT, INSERT, UPDATE ON nextid_generators TO NAME;
--
-- Times are Unix milliseconds by the clock of the nextid server. Keys and
-- names are binary: a collation would treat some different ones as equal.
--
-- MySQL commits each statement of DDL by itself. After an interrupted run, a
-- second run must succeed: hence IF NOT EXISTS.

-- +goose Up

-- One row per key: hi is the end (exclusive) of all reservations so far.
CREATE TABLE IF NOT EXISTS nextid_reservations (
    `key`      VARBINARY(255) NOT NULL PRIMARY KEY,
    lo         BIGINT         NOT NULL, -- start of the last reservation
    hi         BIGINT         NOT NULL,
    seq        BIGINT         NOT NULL, -- reservations of this key so far
    stamp      VARBINARY(1024) NOT NULL, -- database server that wrote the row last
    owner      VARCHAR(255)   NOT NULL, -- nextid server that reserved last
    updated_at BIGINT         NOT NULL,
    token      BINARY(16)     NOT NULL  -- random, of the last reservation: shows which of two requests was granted
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- One row per name. The row of a dropped name stays, so that its version only grows.
CREATE TABLE IF NOT EXISTS nextid_generators (
    name       VARBINARY(255) NOT NULL PRIMARY KEY,
    kind       VARCHAR(64)    NOT NULL,
    options    MEDIUMTEXT     NOT NULL, -- JSON, byte for byte as the kind wrote it
    version    BIGINT         NOT NULL,
    created_at BIGINT         NOT NULL,
    dropped    BOOLEAN        NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS nextid_generators;
DROP TABLE IF EXISTS nextid_reservations;
