-- This index serves lists of the keys with one prefix. The index of the primary
-- key is in the database's collation, in which such keys may not be adjacent.

-- +goose Up
CREATE INDEX nextid_reservations_prefix ON nextid_reservations (key COLLATE "C");

-- +goose Down
DROP INDEX IF EXISTS nextid_reservations_prefix;
