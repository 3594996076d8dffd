-- The last wait for older sessions. Only MariaDB, whose settings end with a restart,
-- needs it. MySQL has no IF NOT EXISTS for columns.

-- +goose Up
ALTER TABLE nextid_shard /*M! ADD COLUMN IF NOT EXISTS
    drained BIGINT NOT NULL DEFAULT 0 AFTER drain_below */; -- Unix time at which there were none

-- +goose Down
-- 00001_shard.sql drops the table.
