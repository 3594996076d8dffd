-- The functions that an application calls. The role that ran up owns them. Those
-- that read the foreign tables run with its rights (SECURITY DEFINER with a fixed
-- search_path). Only this role has a user mapping. So no other role can read the
-- password, or send other queries to the server.

-- +goose Up

-- next_id sends one query for each id.
-- +goose StatementBegin
CREATE FUNCTION nextid.next_id(name text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- With a caller's collation, postgres_fdw would not send the condition, and
    -- a read without it draws from every generator.
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

-- next_ids sends one query for every 10,000 ids.
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

-- Batches. next_id(name, batch) draws batch ids with one query, and returns them
-- one by one in this session. Neither a rollback nor a crash may make it return
-- an id twice. The state is in two places:
--
--   * Sequences never go back, not even by a rollback. The sequences
--     nextid.place_N only count: each call takes a place, a number that no other
--     call in this database ever gets. CACHE keeps them in the session's memory.
--   * Settings (custom GUCs) belong to the session, and a rollback restores their
--     old values. They hold runs: the places lo to hi-1 map to the ids lo+shift
--     to hi-1+shift.
--
-- A new run begins at the place just taken, so all earlier places are outside of
-- it. A rollback restores an older run or none, but never a used place. So no id
-- comes twice; at worst the rest of a run is lost. The same holds for savepoints,
-- for DISCARD and RESET, and for a pooler that copies the settings to another
-- session: no place is taken twice.
--
-- The names of a session are spread over eight sequences. A place that one name
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
-- Runs with the caller's rights and search_path: to change either costs more than
-- the whole function. So every name is qualified.
DECLARE
    -- {installation, slot, lo, hi, shift}. installation is the OID of place_1: it
    -- differs for runs from before a down and up.
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

-- next_run is the slow path of next_id(name, batch). place is one that was taken and
-- is outside of the present run, or NULL.
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
