-- An error for names of which the server has no generator. The server answers a read
-- of ids and id_batch with no row then. A read of id_fields ends in the server's
-- error, or draws an id, if the generator was made meanwhile.

-- +goose Up
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextid.next_id(name text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted CONSTANT text COLLATE "default" := next_id.name; -- postgres_fdw sends no condition with a caller's collation
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

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION nextid.next_ids(name text, n integer) RETURNS SETOF bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted CONSTANT text COLLATE "default" := next_ids.name;
    missing bigint := next_ids.n;
    part bigint;
BEGIN
    IF wanted IS NULL OR missing IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'neither the name of the generator nor n may be null';
    END IF;
    IF missing < 0 THEN
        RAISE invalid_parameter_value USING MESSAGE = format('n must not be negative, but is %s', missing);
    END IF;
    WHILE missing > 0 LOOP
        part := least(missing, 10000);
        RETURN QUERY SELECT b.id FROM nextid.id_batch b WHERE b.name = wanted AND b.n = part;
        IF FOUND THEN
            missing := missing - part;
        ELSE
            PERFORM FROM nextid.id_fields f WHERE f.name = wanted AND f.field = 0;
        END IF;
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
-- 00002_functions.sql drops the functions.
