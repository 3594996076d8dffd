-- The functions over MySQL's protocol, with mysql_fdw.
-- The scripts in postgres/connect set the address, the login and the grants at every
-- up.

-- +goose Up
CREATE EXTENSION IF NOT EXISTS mysql_fdw SCHEMA nextid;

CREATE SERVER nextid FOREIGN DATA WRAPPER mysql_fdw;

-- Reading a row of ids draws an id. A read without a condition on the name draws
-- from every generator. So only the functions of this schema read these tables,
-- always by name.
CREATE FOREIGN TABLE nextid.ids (name text NOT NULL, id bigint NOT NULL)
    SERVER nextid OPTIONS (dbname 'nextid', table_name 'ids');

CREATE FOREIGN TABLE nextid.id_parts (
    id bigint NOT NULL, layout text, kind text, "time" timestamp,
    datacenter bigint, worker bigint, rollback bigint, sequence bigint)
    SERVER nextid OPTIONS (dbname 'nextid', table_name 'id_parts');

-- next_id asks the server once for each id.
-- +goose StatementBegin
CREATE FUNCTION nextid.next_id(name text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- A caller's collation would keep mysql_fdw from sending the condition.
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

-- +goose Down
DROP FUNCTION nextid.next_id(text);

DROP FOREIGN TABLE nextid.id_parts, nextid.ids;

DROP SERVER nextid CASCADE; -- its user mappings

-- If up made the extension, it is in the schema nextid and is dropped. If another
-- server uses it by now, it moves to the schema public.
-- +goose StatementBegin
DO $$
BEGIN
    PERFORM FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace s ON s.oid = e.extnamespace
        WHERE e.extname = 'mysql_fdw' AND s.nspname = 'nextid';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM FROM pg_catalog.pg_foreign_server s JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw WHERE w.fdwname = 'mysql_fdw';
    IF FOUND THEN
        ALTER EXTENSION mysql_fdw SET SCHEMA public;
    ELSE
        DROP EXTENSION mysql_fdw;
    END IF;
END $$;
-- +goose StatementEnd
