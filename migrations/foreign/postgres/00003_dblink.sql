-- dblink_next_id draws through dblink, with one round trip per id instead of three.
-- It has no transaction on the server. So the server may restart during a
-- transaction of the application.

-- +goose Up
-- A role that may not create extensions gets the function, too. It works once an
-- administrator has created dblink.
-- +goose StatementBegin
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'dblink')
        AND (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = CURRENT_USER) THEN
        CREATE EXTENSION dblink SCHEMA nextid;
    END IF;
    -- For FROM CURRENT below, until the end of this transaction.
    PERFORM pg_catalog.set_config('search_path', pg_catalog.concat_ws(', ', 'pg_catalog',
        coalesce((SELECT pg_catalog.quote_ident(s.nspname) FROM pg_catalog.pg_extension e
            JOIN pg_catalog.pg_namespace s ON s.oid = e.extnamespace WHERE e.extname = 'dblink'), 'nextid'), 'pg_temp'), true);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION nextid.dblink_next_id(name text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER COST 10000
    SET search_path FROM CURRENT
AS $$
DECLARE
    question CONSTANT text := format('SELECT next_id(%L)', dblink_next_id.name);
    id bigint;
BEGIN
    IF dblink_next_id.name IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'the name of the generator must not be null';
    END IF;
    IF '_nextid' = ANY (dblink_get_connections()) THEN
        BEGIN
            SELECT d.id INTO STRICT id FROM dblink('_nextid', question) AS d (id bigint);
            RETURN id;
        EXCEPTION WHEN connection_exception OR admin_shutdown OR cannot_connect_now OR SQLSTATE '57P05' THEN
            -- The server was restarted. A second query may lose an id, but never returns one twice.
            PERFORM dblink_disconnect('_nextid');
        END;
    END IF;
    PERFORM dblink_connect('_nextid', 'nextid');
    SELECT d.id INTO STRICT id FROM dblink('_nextid', question) AS d (id bigint);
    RETURN id;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION nextid.dblink_next_id(text);

-- +goose StatementBegin
DO $$
BEGIN
    PERFORM FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace s ON s.oid = e.extnamespace
        WHERE e.extname = 'dblink' AND s.nspname = 'nextid';
    IF FOUND THEN
        DROP EXTENSION dblink;
    END IF;
END $$;
-- +goose StatementEnd
