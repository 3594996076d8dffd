-- The ids of sequences instead of their names: they follow a new name. A second run
-- changes nothing.

-- +goose Up
DELETE FROM nextid_shard_lines WHERE to_regclass(sequence::text) IS NULL;
ALTER TABLE nextid_shard_lines ALTER COLUMN sequence TYPE regclass USING sequence::regclass;

-- +goose Down
-- 00001_shard.sql drops the table.
