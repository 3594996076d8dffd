
-- parse_id returns the parts of an id, by the layout of a generator or of that name.
CREATE OR REPLACE FUNCTION nextid.parse_id(id bigint, name_or_layout text DEFAULT NULL,
    OUT layout text, OUT kind text, OUT "time" {{time}},
    OUT datacenter bigint, OUT worker bigint, OUT rollback bigint, OUT sequence bigint, OUT field bigint)
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted CONSTANT text COLLATE "default" := name_or_layout;
BEGIN
    IF wanted IS NULL THEN -- two statements: the server gets each condition only if it is a plain comparison
        SELECT p.layout, p.kind, p."time", p.datacenter, p.worker, p.rollback, p.sequence, p.field
            INTO layout, kind, "time", datacenter, worker, rollback, sequence, field
            FROM nextid.id_parts p WHERE p.id = parse_id.id;
    ELSE
        SELECT p.layout, p.kind, p."time", p.datacenter, p.worker, p.rollback, p.sequence, p.field
            INTO layout, kind, "time", datacenter, worker, rollback, sequence, field
            FROM nextid.id_parts p WHERE p.id = parse_id.id AND p.layout = wanted;
    END IF;
END $$;

