-- The state that nextid migrate shards keeps in a shard on PostgreSQL.

-- +goose Up

-- One row: the shard.
CREATE TABLE IF NOT EXISTS nextid_shard (
    one          boolean PRIMARY KEY CHECK (one),
    shards       text    NOT NULL, -- id of the set of shards, equal on all of them
    number       integer NOT NULL, -- of this shard, from 1
    members      integer NOT NULL, -- number of shards in the set
    first_number bigint  NOT NULL,
    increment    bigint  NOT NULL
);

-- One row per sequence: the values that down restores, and started, the first id from
-- which on no other shard has the same ids (NULL: not known yet).
CREATE TABLE IF NOT EXISTS nextid_shard_lines (
    sequence         text   PRIMARY KEY,
    before_start     bigint NOT NULL,
    before_increment bigint NOT NULL,
    started          bigint
);

-- +goose Down
DROP TABLE nextid_shard_lines;
DROP TABLE nextid_shard;
