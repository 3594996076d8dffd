-- The function that an application's MariaDB or MySQL calls. connect/tables.sql
-- makes the tables that it reads, at every up that changes the engine.
--
-- MySQL commits each statement of DDL by itself. After an interrupted up, a second
-- one must succeed: hence DROP … IF EXISTS.

-- +goose Up
-- next_id draws one id. The name is the key of the table, so the engines request
-- this row only.
DROP FUNCTION IF EXISTS nextid.next_id;
CREATE FUNCTION nextid.next_id(generator VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin) RETURNS BIGINT
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER COMMENT 'a new id of a generator of nextid'
    RETURN (SELECT ids.id FROM nextid.ids WHERE ids.name = generator);

-- +goose Down
DROP FUNCTION IF EXISTS nextid.next_id;
