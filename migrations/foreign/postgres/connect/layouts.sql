-- Functions that compute on ids with a time. They need no server. The layout of a
-- generator never changes. So they are IMMUTABLE, and PostgreSQL computes
-- id_floor('orders', '2026-01-01') once, when it plans.

-- layout_of returns the layout of a generator, else the layout of that name, and for
-- '' the default layout. places holds the shift and the width of time,
-- datacenter, worker, rollback, sequence and field. epoch and unit are in
-- microseconds.
CREATE OR REPLACE FUNCTION nextid.layout_of(name text, OUT layout text, OUT most bigint, OUT signed boolean, OUT reversed boolean,
    OUT epoch bigint, OUT unit bigint, OUT places integer[])
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $layout_of$
DECLARE
    wanted CONSTANT text COLLATE "C" := layout_of.name;
BEGIN
    SELECT l.layout, l.most, l.signed, l.reversed, l.epoch, l.unit, l.places::integer[]
        INTO layout, most, signed, reversed, epoch, unit, places
        FROM (VALUES
{{layouts}}
        ) AS l (generator, name, layout, most, signed, reversed, epoch, unit, places)
        WHERE l.name = CASE WHEN l.generator THEN wanted ELSE lower(coalesce(nullif(wanted, ''), {{default}})) END ORDER BY l.generator DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('there is no generator and no layout "%s" here', wanted),
            HINT = 'Run nextid migrate foreign up again: it reads the generators of the server. --layout NAME=LAYOUT names one.';
    END IF;
END $layout_of$;

-- field returns one part of an id, NULL where its layout has none. The part
-- 'time' counts in the unit of the layout, from its epoch on.
CREATE OR REPLACE FUNCTION nextid.field(id bigint, name_or_layout text DEFAULT '', part text DEFAULT 'field') RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    l CONSTANT record := nextid.layout_of(name_or_layout);
    i CONSTANT integer := 2 * array_position(ARRAY['time', 'datacenter', 'worker', 'rollback', 'sequence', 'field'], part) - 1;
    v bigint;
BEGIN
    IF i IS NULL THEN
        RAISE invalid_parameter_value USING MESSAGE = format('an id has no part "%s"', part),
            HINT = 'The parts are time, datacenter, worker, rollback, sequence and field.';
    ELSIF id > l.most OR id < 0 AND NOT l.signed THEN
        RAISE invalid_parameter_value USING MESSAGE = format('%s is not an id of layout %s, whose ids are 0 to %s', id, l.layout, l.most),
            HINT = 'Name the generator or the layout of the id.';
    ELSIF l.places[i + 1] = 0 THEN
        RETURN NULL;
    ELSIF i = 1 AND id < 0 THEN -- the sign is the highest bit of the time
        RETURN id >> l.places[1] & (1::bigint << (64 - l.places[1])) - 1;
    END IF;
    v := id >> l.places[i] & (1::bigint << l.places[i + 1]) - 1;
    IF i = 1 AND l.reversed THEN
        v := lpad(reverse(right(v::bit(64)::text, l.places[2])), 64, '0')::bit(64)::bigint;
    END IF;
    RETURN v;
END $$;

-- id_time returns the time of an id, NULL if its layout has none.
CREATE OR REPLACE FUNCTION nextid.id_time(id bigint, name_or_layout text DEFAULT '') RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    l CONSTANT record := nextid.layout_of(name_or_layout);
    micros CONSTANT bigint := l.epoch + nextid.field(id, name_or_layout, 'time') * l.unit;
BEGIN -- in two steps: the factor of an interval is a double
    RETURN timestamptz '1970-01-01 00:00:00+00' + micros / 1000000 * interval '1 second' + micros % 1000000 * interval '1 microsecond';
END $$;

-- id_bound returns the least or the greatest id of the tick that holds ts.
CREATE OR REPLACE FUNCTION nextid.id_bound(name text, ts timestamptz, last boolean) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    l CONSTANT record := nextid.layout_of(id_bound.name);
    micros bigint;
    tick bigint;
BEGIN
    IF l.places[2] = 0 OR l.reversed THEN
        RAISE feature_not_supported USING MESSAGE = format('ids of layout %s are not in the order of time', l.layout),
            HINT = 'Keep the time in a column of its own.';
    END IF;
    -- In two steps: before PostgreSQL 14 extract returns a double.
    micros := extract(epoch FROM date_trunc('second', ts))::bigint * 1000000 + extract(microseconds FROM ts)::bigint % 1000000 - l.epoch;
    tick := micros / l.unit - (micros % l.unit < 0)::integer;
    IF tick < 0 OR tick >= 1::bigint << l.places[2] THEN
        RAISE invalid_parameter_value USING MESSAGE = format('%s is outside the time of layout %s', ts AT TIME ZONE 'UTC', l.layout),
            HINT = format('Its ids are of %s to %s, in UTC.', nextid.id_time(0, id_bound.name) AT TIME ZONE 'UTC', nextid.id_time(l.most, id_bound.name) AT TIME ZONE 'UTC');
    END IF;
    RETURN tick << l.places[1] | CASE WHEN last THEN (1::bigint << l.places[1]) - 1 ELSE 0 END;
END $$;

CREATE OR REPLACE FUNCTION nextid.id_floor(name text, ts timestamptz) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT nextid.id_bound(name, ts, false)';

CREATE OR REPLACE FUNCTION nextid.id_ceil(name text, ts timestamptz) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS 'SELECT nextid.id_bound(name, ts, true)';

-- partition_ddl returns the statements that make partitions by id. Each holds the ids
-- of an hour, day, week, month or year in UTC.
CREATE OR REPLACE FUNCTION nextid.partition_ddl(parent regclass, name text, step text, since timestamptz, until timestamptz) RETURNS SETOF text
    LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    pattern CONSTANT text := CASE step WHEN 'hour' THEN '_YYYY_MM_DD_HH24' WHEN 'day' THEN '_YYYY_MM_DD' WHEN 'week' THEN '_IYYY"w"IW'
        WHEN 'month' THEN '_YYYY_MM' WHEN 'year' THEN '_YYYY' END;
    l CONSTANT record := nextid.layout_of(partition_ddl.name);
    lo timestamp;
    hi timestamp;
    child text;
    parent_schema text;
    parent_name text;
BEGIN
    IF pattern IS NULL THEN
        RAISE invalid_parameter_value USING MESSAGE = format('"%s" is not a length of partitions', step), HINT = 'Write hour, day, week, month or year.';
    END IF;
    SELECT s.nspname, c.relname INTO parent_schema, parent_name FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE c.oid = parent;
    lo := date_trunc(step, since AT TIME ZONE 'UTC');
    WHILE lo < until AT TIME ZONE 'UTC' LOOP
        hi := lo + ('1 ' || step)::interval;
        child := parent_name || to_char(lo, pattern);
        IF octet_length(child) > 63 THEN
            RAISE name_too_long USING MESSAGE = format('the name of a partition, "%s", has more than 63 bytes', child), HINT = 'Rename the table.';
        END IF;
        RETURN NEXT format('CREATE TABLE IF NOT EXISTS %I.%I PARTITION OF %I.%I FOR VALUES FROM (%s) TO (%s);', parent_schema, child, parent_schema, parent_name,
            nextid.id_floor(partition_ddl.name, lo AT TIME ZONE 'UTC'),
            CASE WHEN hi AT TIME ZONE 'UTC' > nextid.id_time(l.most, partition_ddl.name) THEN 'MAXVALUE'
                ELSE nextid.id_floor(partition_ddl.name, hi AT TIME ZONE 'UTC')::text END);
        lo := hi;
    END LOOP;
END $$;
