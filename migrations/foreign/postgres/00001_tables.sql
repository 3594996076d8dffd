-- The foreign server and its tables. The scripts in connect/ set the address, the
-- login and the grants at every up.

-- +goose Up
CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA nextid;

CREATE SERVER nextid FOREIGN DATA WRAPPER postgres_fdw;

-- Reading a row of ids draws an id. A read without a condition on the name draws
-- from every generator. So only the functions of this schema read these tables,
-- always by name.
CREATE FOREIGN TABLE nextid.ids (name text NOT NULL, id bigint NOT NULL)
    SERVER nextid OPTIONS (schema_name 'public', table_name 'ids');

CREATE FOREIGN TABLE nextid.id_batch (name text NOT NULL, n bigint NOT NULL, id bigint NOT NULL)
    SERVER nextid OPTIONS (schema_name 'public', table_name 'id_batch', fetch_size '10000');

CREATE FOREIGN TABLE nextid.id_ranges (name text NOT NULL, n bigint NOT NULL, first bigint NOT NULL, last bigint NOT NULL)
    SERVER nextid OPTIONS (schema_name 'public', table_name 'id_ranges', fetch_size '1000');

CREATE FOREIGN TABLE nextid.id_parts (
    id bigint NOT NULL, layout text, kind text, "time" timestamptz,
    datacenter bigint, worker bigint, rollback bigint, sequence bigint, field bigint)
    SERVER nextid OPTIONS (schema_name 'public', table_name 'id_parts');

-- +goose Down
DROP FOREIGN TABLE nextid.id_parts, nextid.id_ranges, nextid.id_batch, nextid.ids;

DROP SERVER nextid CASCADE; -- its user mappings

-- If up made the extension, it is in the schema nextid and is dropped. If another
-- server uses it by now, it moves to the schema public.
-- +goose StatementBegin
DO $$
DECLARE
    used boolean;
BEGIN
    PERFORM FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace s ON s.oid = e.extnamespace
        WHERE e.extname = 'postgres_fdw' AND s.nspname = 'nextid';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT EXISTS (SELECT FROM pg_catalog.pg_foreign_server s JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
        WHERE w.fdwname = 'postgres_fdw') INTO used;
    IF used THEN
        ALTER EXTENSION postgres_fdw SET SCHEMA public;
    ELSE
        DROP EXTENSION postgres_fdw;
    END IF;
END $$;
-- +goose StatementEnd
