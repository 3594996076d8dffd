-- What nextid migrate shards knows of a shard on MySQL or MariaDB.
--
-- Each statement is durable by itself here: what one that was killed has left
-- behind is in nobody's way.

-- +goose Up

-- One row: the shard.
CREATE TABLE IF NOT EXISTS nextid_shard (
    one          TINYINT     NOT NULL PRIMARY KEY CHECK (one = 1),
    shards       CHAR(32)    NOT NULL, -- the set of shards, the same on all of them
    number       INT         NOT NULL, -- of this shard, from 1
    members      INT         NOT NULL, -- how many shards the set has
    first_number BIGINT      NOT NULL, -- auto_increment_offset
    increment    BIGINT      NOT NULL, -- auto_increment_increment
    scope        VARCHAR(16) NOT NULL, -- persist, global or session
    -- Sessions with a lower connection id may still draw as before the last
    -- change. NULL: there are none; 0: not yet known.
    drain_below  BIGINT      NULL,
    -- What down brings back; the last two are NULL where nothing was persisted.
    before_offset              BIGINT NOT NULL,
    before_increment           BIGINT NOT NULL,
    before_persisted_offset    BIGINT NULL,
    before_persisted_increment BIGINT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- One row a column: from where on its ids are apart from those of the other
-- shards.
CREATE TABLE IF NOT EXISTS nextid_shard_lines (
    line    VARCHAR(255) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, -- tables may differ in case only
    started BIGINT       NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS nextid_shard_lines;
DROP TABLE IF EXISTS nextid_shard;
