-- An error for names of which the server has no generator: see
-- postgres/00006_missing.sql.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextid.next_id(name text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted CONSTANT text COLLATE "default" := next_id.name; -- mysql_fdw sends no condition with a caller's collation
    id bigint;
BEGIN
    IF wanted IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'the name of the generator must not be null';
    END IF;
    SELECT i.id INTO id FROM nextid.ids i WHERE i.name = wanted;
    IF NOT FOUND THEN
        SELECT f.id INTO STRICT id FROM nextid.id_fields f WHERE f.name = wanted AND f.field = 0;
    END IF;
    RETURN id;
END $$;
-- +goose StatementEnd

-- +goose Down
-- 00001_functions.sql drops the function.
