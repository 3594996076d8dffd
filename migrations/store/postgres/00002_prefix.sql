-- Keys that begin alike are listed by this index. That of the primary key is
-- in the order of the database's language, which does not keep them together.

-- +goose Up
CREATE INDEX nextid_reservations_prefix ON nextid_reservations (key COLLATE "C");

-- +goose Down
DROP INDEX IF EXISTS nextid_reservations_prefix;
