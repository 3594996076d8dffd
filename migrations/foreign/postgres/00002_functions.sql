-- The functions that an application calls. They are owned by the role that
-- ran up, and those that touch the foreign tables run with its rights
-- (SECURITY DEFINER with a fixed search_path): it alone has a user mapping,
-- so that no other role can read the password or ask the server anything else.

-- +goose Up

-- next_id asks the server once for each id.
-- +goose StatementBegin
CREATE FUNCTION nextid.next_id(name text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- A caller's collation would keep postgres_fdw from sending the condition,
    -- and a read without it draws an id of every generator.
    wanted CONSTANT text COLLATE "default" := next_id.name;
    id bigint;
BEGIN
    IF wanted IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'the name of the generator must not be null';
    END IF;
    SELECT i.id INTO STRICT id FROM nextid.ids i WHERE i.name = wanted;
    RETURN id;
END $$;
-- +goose StatementEnd

-- next_ids asks the server once for every 10,000 ids.
-- +goose StatementBegin
CREATE FUNCTION nextid.next_ids(name text, n integer) RETURNS SETOF bigint
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
        missing := missing - part;
    END LOOP;
END $$;
-- +goose StatementEnd

-- Batches. next_id(name, batch) draws batch ids at once and hands them out
-- in this session. What it remembers must survive neither a rollback nor a
-- crash in a way that gives an id twice, and it has two kinds of memory:
--
--   * Sequences never go back, whatever is rolled back. nextid.place_N only
--     count: each call takes a place, a number that no other call in this
--     database ever gets. CACHE makes that a matter of the session's memory.
--   * Settings (custom GUCs) belong to the session and follow its
--     transactions: a rollback restores them. They hold runs: "places lo to
--     hi-1 stand for the ids lo+shift to hi-1+shift".
--
-- A run is made with lo = the place in hand, so that all places before are
-- outside of it. A rollback brings back an older run or none, but not a used
-- place, so no id comes twice: at worst the rest of a run is lost. The same
-- holds for savepoints, for DISCARD and RESET, and even for a pooler that
-- copied the settings to another session, since places are never shared.
--
-- Names in one session take turns on eight sequences: a place that one name
-- takes is lost for the run of another name on the same sequence.
CREATE SEQUENCE nextid.place_1 CACHE 65536;
CREATE SEQUENCE nextid.place_2 CACHE 65536;
CREATE SEQUENCE nextid.place_3 CACHE 65536;
CREATE SEQUENCE nextid.place_4 CACHE 65536;
CREATE SEQUENCE nextid.place_5 CACHE 65536;
CREATE SEQUENCE nextid.place_6 CACHE 65536;
CREATE SEQUENCE nextid.place_7 CACHE 65536;
CREATE SEQUENCE nextid.place_8 CACHE 65536;

-- +goose StatementBegin
CREATE FUNCTION nextid.next_id(name text, batch integer) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
-- Runs with the caller's rights and search_path, since a change of either
-- costs more than the whole function: every name is qualified.
DECLARE
    -- {the installation, slot, lo, hi, shift}; the OID of a sequence of ours
    -- tells runs from before a down and up.
    run CONSTANT bigint[] := nullif(pg_catalog.current_setting(
        'nextid.run_' OPERATOR(pg_catalog.||) pg_catalog.encode(pg_catalog.convert_to(next_id.name, 'UTF8'), 'hex'), true), '');
    place bigint;
BEGIN
    IF run[1] OPERATOR(pg_catalog.=) 'nextid.place_1'::pg_catalog.regclass::pg_catalog.oid::bigint THEN
        place := pg_catalog.nextval((ARRAY[
            'nextid.place_1'::pg_catalog.regclass, 'nextid.place_2', 'nextid.place_3', 'nextid.place_4',
            'nextid.place_5', 'nextid.place_6', 'nextid.place_7', 'nextid.place_8'])[run[2]]);
        IF place OPERATOR(pg_catalog.>=) run[3] AND place OPERATOR(pg_catalog.<) run[4] THEN
            RETURN place OPERATOR(pg_catalog.+) run[5];
        END IF;
    END IF;
    RETURN nextid.next_run(next_id.name, next_id.batch, place);
END $$;
-- +goose StatementEnd

-- next_run is the slow half of next_id(name, batch): place, when there is
-- one, was taken and lies outside of the run in hand.
-- +goose StatementBegin
CREATE FUNCTION nextid.next_run(name text, batch bigint, place bigint) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted CONSTANT text COLLATE "default" := next_run.name;
    key CONSTANT text := encode(convert_to(wanted, 'UTF8'), 'hex');
    installation CONSTANT bigint := 'nextid.place_1'::regclass::oid;
    place bigint := next_run.place;
    slot bigint;
    names bigint;
    runs bigint[]; -- {lo, hi, shift, lo, hi, shift, ...}
    lo bigint;
    hi bigint;
    drawn record;
BEGIN
    IF wanted IS NULL OR batch IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'neither the name of the generator nor the batch may be null';
    END IF;
    IF place IS NOT NULL THEN
        slot := (current_setting('nextid.run_' || key)::bigint[])[2];
        runs := nullif(current_setting('nextid.runs_' || key, true), '');
        FOR i IN 1 .. coalesce(cardinality(runs), 0) BY 3 LOOP
            IF place >= runs[i] AND place < runs[i + 1] THEN
                PERFORM set_config('nextid.run_' || key, (installation || (slot || runs[i:i + 2]))::text, false);
                RETURN place + runs[i + 2];
            END IF;
        END LOOP;
    ELSE
        names := coalesce(nullif(current_setting('nextid.names', true), '')::bigint, 0);
        PERFORM set_config('nextid.names', (names + 1)::text, false);
        slot := names % 8 + 1;
        place := nextval(('nextid.place_' || slot)::regclass);
    END IF;

    lo := place;
    runs := '{}';
    FOR drawn IN SELECT r.first, r.last FROM nextid.id_ranges r WHERE r.name = wanted AND r.n = batch LOOP
        hi := lo + (drawn.last - drawn.first) + 1;
        runs := runs || ARRAY[lo, hi, drawn.first - lo];
        lo := hi;
    END LOOP;
    IF runs = '{}' THEN
        RAISE no_data_found USING MESSAGE = format('the server sent no ids of %L', wanted);
    END IF;
    PERFORM set_config('nextid.runs_' || key, runs::text, false);
    PERFORM set_config('nextid.run_' || key, (installation || (slot || runs[1:3]))::text, false);
    RETURN place + runs[3];
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION nextid.next_run(text, bigint, bigint), nextid.next_id(text, integer),
    nextid.next_ids(text, integer), nextid.next_id(text);

DROP SEQUENCE nextid.place_1, nextid.place_2, nextid.place_3, nextid.place_4,
    nextid.place_5, nextid.place_6, nextid.place_7, nextid.place_8;
