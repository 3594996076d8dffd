-- The caller's bits of an id.

-- +goose Up
CREATE FOREIGN TABLE nextid.id_fields (name text NOT NULL, field bigint NOT NULL, id bigint NOT NULL)
    SERVER nextid OPTIONS (schema_name 'public', table_name 'id_fields');

-- next_id_for draws one id whose field for the caller's bits holds field. There
-- is none for batches: all their ids would hold the same value.
-- +goose StatementBegin
CREATE FUNCTION nextid.next_id_for(name text, field bigint) RETURNS bigint
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

-- An earlier version of 00002_functions.sql made parse_id without the field.
-- connect/parse_id.sql makes the present function at every up.
DROP FUNCTION IF EXISTS nextid.parse_id(bigint, text);

-- +goose Down
DROP FUNCTION IF EXISTS nextid.parse_id(bigint, text);

DROP FUNCTION nextid.next_id_for(text, bigint);

DROP FOREIGN TABLE nextid.id_fields;
