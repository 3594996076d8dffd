-- The address of the server and the login. up runs this after the migrations, every
-- time, in one transaction. So a second up changes the address or the password. The
-- password is not in this text: up first sets it, for this transaction only, with
--     SELECT set_config('nextid.password', $1, true)

DO $connection$
DECLARE
    server_options CONSTANT text[] := {{server options}};
    user_options text[] := {{user options}};
    password CONSTANT text := pg_catalog.current_setting('nextid.password', true);
    present text[];
    changes text;
BEGIN
    IF password <> '' THEN
        user_options := user_options || ARRAY['password', password];
    END IF;

    -- An option that exists is SET, a new one ADDed, one that is no longer given DROPped.
    present := ARRAY(SELECT pg_catalog.split_part(o, '=', 1) FROM pg_catalog.pg_foreign_server s,
        pg_catalog.unnest(s.srvoptions) o WHERE s.srvname = 'nextid');
    SELECT pg_catalog.string_agg(c, ', ') INTO changes FROM (
        SELECT CASE WHEN server_options[i] = ANY (present) THEN 'SET' ELSE 'ADD' END
            || pg_catalog.format(' %I %L', server_options[i], server_options[i + 1])
            FROM pg_catalog.generate_series(1, pg_catalog.cardinality(server_options), 2) i
        UNION ALL
        SELECT pg_catalog.format('DROP %I', p) FROM pg_catalog.unnest(present) p
            WHERE p NOT IN (SELECT server_options[i] FROM pg_catalog.generate_series(1, pg_catalog.cardinality(server_options), 2) i)
    ) AS each (c);
    EXECUTE 'ALTER SERVER nextid OPTIONS (' || changes || ')';

    -- Only the owner of the functions logs in at the server.
    SELECT pg_catalog.string_agg(pg_catalog.format('%I %L', user_options[i], user_options[i + 1]), ', ') INTO changes
        FROM pg_catalog.generate_series(1, pg_catalog.cardinality(user_options), 2) i;
    BEGIN
        DROP USER MAPPING IF EXISTS FOR CURRENT_USER SERVER nextid;
        EXECUTE 'CREATE USER MAPPING FOR CURRENT_USER SERVER nextid OPTIONS (' || changes || ')';
    EXCEPTION WHEN OTHERS THEN
        RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM; -- without a context that quotes the password
    END;
END $connection$;
