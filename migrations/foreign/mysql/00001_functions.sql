-- What an application's MariaDB or MySQL calls. The tables that the function
-- reads are not here: connect/tables.sql makes them with the engine that is
-- configured, at every up that finds another one.
--
-- Each statement is durable by itself here: what one that was killed has left
-- behind is in nobody's way.

-- +goose Up
-- One id. The table has the name as its key, so that the engines ask for this row only.
DROP FUNCTION IF EXISTS nextid.next_id;
CREATE FUNCTION nextid.next_id(generator VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin) RETURNS BIGINT
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER COMMENT 'a new id of a generator of nextid'
    RETURN (SELECT ids.id FROM nextid.ids WHERE ids.name = generator);

-- +goose Down
DROP FUNCTION IF EXISTS nextid.next_id;
