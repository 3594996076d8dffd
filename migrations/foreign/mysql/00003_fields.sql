-- next_id_for draws one id whose field for the caller's bits holds a value.

-- +goose Up
DROP FUNCTION IF EXISTS nextid.next_id_for;
CREATE FUNCTION nextid.next_id_for(generator VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin, value BIGINT) RETURNS BIGINT
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER COMMENT 'a new id of a generator of nextid with the caller''s bits'
    RETURN (SELECT id_fields.id FROM nextid.id_fields WHERE id_fields.name = generator AND id_fields.field = value);

-- +goose Down
DROP FUNCTION IF EXISTS nextid.next_id_for;
