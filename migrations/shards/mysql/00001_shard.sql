-- The state that nextid migrate shards keeps in a shard on MySQL or MariaDB.
--
-- MySQL commits each statement of DDL by itself. After an interrupted up, a second
-- one must succeed: hence IF NOT EXISTS.

-- +goose Up

-- One row: the shard.
CREATE TABLE IF NOT EXISTS nextid_shard (
    one          TINYINT     NOT NULL PRIMARY KEY CHECK (one = 1),
    shards       CHAR(32)    NOT NULL, -- id of the set of shards, equal on all of them
    number       INT         NOT NULL, -- of this shard, from 1
    members      INT         NOT NULL, -- number of shards in the set
    first_number BIGINT      NOT NULL, -- auto_increment_offset
    increment    BIGINT      NOT NULL, -- auto_increment_increment
    scope        VARCHAR(16) NOT NULL, -- persist, global or session
    -- Sessions with a lower connection id may still use the settings from before the
    -- last change. NULL: there are none; 0: not yet known.
    drain_below  BIGINT      NULL,
    -- The values that down restores; the last two are NULL if nothing was persisted.
    before_offset              BIGINT NOT NULL,
    before_increment           BIGINT NOT NULL,
    before_persisted_offset    BIGINT NULL,
    before_persisted_increment BIGINT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- One row per column: the first id from which on no other shard has the same ids.
CREATE TABLE IF NOT EXISTS nextid_shard_lines (
    line    VARCHAR(255) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, -- binary: names of tables may differ in case only
    started BIGINT       NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS nextid_shard_lines;
DROP TABLE IF EXISTS nextid_shard;
