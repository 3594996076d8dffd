-- The caller's bits of an id. A dump without rows brings these objects and does
-- not tell their version, so each statement bears that they are there.

-- +goose Up
CREATE FOREIGN TABLE IF NOT EXISTS nextid.id_fields (name text NOT NULL, field bigint NOT NULL, id bigint NOT NULL)
    SERVER nextid OPTIONS (dbname 'nextid', table_name 'id_fields');

ALTER FOREIGN TABLE nextid.id_parts ADD COLUMN IF NOT EXISTS field bigint;

-- next_id_for draws one id whose field for the caller's bits holds field. A
-- batch has no such form: its ids would all hold the same value.
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

DROP FUNCTION IF EXISTS nextid.parse_id(bigint), nextid.parse_id(bigint, text);

-- parse_id takes an id apart; a generator's name or a layout says how.
-- +goose StatementBegin
CREATE FUNCTION nextid.parse_id(id bigint, name_or_layout text DEFAULT NULL,
    OUT layout text, OUT kind text, OUT "time" timestamp,
    OUT datacenter bigint, OUT worker bigint, OUT rollback bigint, OUT sequence bigint, OUT field bigint)
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted CONSTANT text COLLATE "default" := name_or_layout;
BEGIN
    IF wanted IS NULL THEN
        SELECT p.layout, p.kind, p."time", p.datacenter, p.worker, p.rollback, p.sequence, p.field
            INTO layout, kind, "time", datacenter, worker, rollback, sequence, field
            FROM nextid.id_parts p WHERE p.id = parse_id.id;
    ELSE
        SELECT p.layout, p.kind, p."time", p.datacenter, p.worker, p.rollback, p.sequence, p.field
            INTO layout, kind, "time", datacenter, worker, rollback, sequence, field
            FROM nextid.id_parts p WHERE p.id = parse_id.id AND p.layout = wanted;
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION nextid.parse_id(bigint, text), nextid.next_id_for(text, bigint);

DROP FOREIGN TABLE nextid.id_fields;
