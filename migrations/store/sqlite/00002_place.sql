-- Properties that a copy of the file does not have, and the time when the store was
-- last in use; see package sqlite. A store of format 1 gets them when it is opened.

-- +goose Up
PRAGMA user_version = 2;

ALTER TABLE nextid_meta ADD COLUMN hardware TEXT NOT NULL DEFAULT '';     -- digest of an id of the (virtual) machine, '' when unknown
ALTER TABLE nextid_meta ADD COLUMN volume   TEXT NOT NULL DEFAULT '';     -- id of the file system, '' when unknown
ALTER TABLE nextid_meta ADD COLUMN birth    TEXT NOT NULL DEFAULT '';     -- when the file was made, '' when unknown
ALTER TABLE nextid_meta ADD COLUMN seen_at  INTEGER NOT NULL DEFAULT 0;   -- the wall clock when the store was in use last, 0 when unknown

-- A damaged row keeps its wrong checksum, so that the server still refuses it.
UPDATE nextid_meta
SET checksum = nextid_crc32c('meta', store_id, created_at, opened_at, owner, machine, inode, reservations,
                             hardware, volume, birth, seen_at)
WHERE checksum = nextid_crc32c('meta', store_id, created_at, opened_at, owner, machine, inode, reservations);

-- +goose Down
UPDATE nextid_meta
SET checksum = nextid_crc32c('meta', store_id, created_at, opened_at, owner, machine, inode, reservations)
WHERE checksum = nextid_crc32c('meta', store_id, created_at, opened_at, owner, machine, inode, reservations,
                               hardware, volume, birth, seen_at);
ALTER TABLE nextid_meta DROP COLUMN seen_at;
ALTER TABLE nextid_meta DROP COLUMN birth;
ALTER TABLE nextid_meta DROP COLUMN volume;
ALTER TABLE nextid_meta DROP COLUMN hardware;
PRAGMA user_version = 1;
