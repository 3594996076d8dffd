-- The shared store on MySQL, MariaDB, TiDB or Vitess.
--
-- nextid itself needs no more than this of an account NAME of its own:
--
--   GRANT SELECT, INSERT, UPDATE ON nextid_reservations TO NAME;
--   GRANT SELECT, INSERT, UPDATE ON nextid_generators TO NAME;
--
-- Times are Unix milliseconds by the clock of the nextid server. Keys and
-- names are bytes: collations would take some of them for the same.
--
-- Each statement is durable by itself here: what one that was killed has left
-- behind is in nobody's way.

-- +goose Up

-- One row a key: hi is the end (exclusive) of all that was ever reserved.
CREATE TABLE IF NOT EXISTS nextid_reservations (
    `key`      VARBINARY(255) NOT NULL PRIMARY KEY,
    lo         BIGINT         NOT NULL, -- start of the last reservation
    hi         BIGINT         NOT NULL,
    seq        BIGINT         NOT NULL, -- reservations of this key so far
    stamp      VARBINARY(1024) NOT NULL, -- server that wrote it last
    owner      VARCHAR(255)   NOT NULL, -- who reserved last
    updated_at BIGINT         NOT NULL,
    token      BINARY(16)     NOT NULL  -- of the last reservation: it tells a granted one from a refused one
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- One row a name. A dropped name stays, so that its version goes on.
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
