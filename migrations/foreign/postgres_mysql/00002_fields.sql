-- The caller's bits of an id. After the restore of a dump without rows, these
-- objects may exist while the version is unknown. So each statement must succeed
-- although its object exists.

-- +goose Up
CREATE FOREIGN TABLE IF NOT EXISTS nextid.id_fields (name text NOT NULL, field bigint NOT NULL, id bigint NOT NULL)
    SERVER nextid OPTIONS (dbname 'nextid', table_name 'id_fields');

ALTER FOREIGN TABLE nextid.id_parts ADD COLUMN IF NOT EXISTS field bigint;

-- next_id_for draws one id whose field for the caller's bits holds field. There
-- is none for batches: all their ids would hold the same value.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextid.next_id_for(name text, field bigint) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted CONSTANT text COLLATE "default" := next_id_for.name;
    id bigint;
BEGIN
    IF wanted IS NULL OR field IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'neither the name of the generator nor the field may be null';
    END IF;
    SELECT f.id INTO STRICT id FROM nextid.id_fields f WHERE f.name = wanted AND f.field = next_id_for.field;
    RETURN id;
END $$;
-- +goose StatementEnd

-- postgres/connect/parse_id.sql makes the function again at every up.
DROP FUNCTION IF EXISTS nextid.parse_id(bigint), nextid.parse_id(bigint, text);

-- +goose Down
DROP FUNCTION IF EXISTS nextid.parse_id(bigint, text);

DROP FUNCTION nextid.next_id_for(text, bigint);

DROP FOREIGN TABLE nextid.id_fields;
