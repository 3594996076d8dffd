-- What nextid migrate shards knows of a shard on PostgreSQL.

-- +goose Up

-- One row: the shard.
CREATE TABLE IF NOT EXISTS nextid_shard (
    one          boolean PRIMARY KEY CHECK (one),
    shards       text    NOT NULL, -- the set of shards, the same on all of them
    number       integer NOT NULL, -- of this shard, from 1
    members      integer NOT NULL, -- how many shards the set has
    first_number bigint  NOT NULL,
    increment    bigint  NOT NULL
);

-- One row a sequence: what down brings back, and from where on its ids are
-- apart from those of the other shards (NULL: not yet).
CREATE TABLE IF NOT EXISTS nextid_shard_lines (
    sequence         text   PRIMARY KEY,
    before_start     bigint NOT NULL,
    before_increment bigint NOT NULL,
    started          bigint
);

-- +goose Down
DROP TABLE nextid_shard_lines;
DROP TABLE nextid_shard;
