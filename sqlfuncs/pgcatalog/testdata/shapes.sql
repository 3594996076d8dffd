-- types with what they are arrays, ranges or domains of
SELECT n.nspname, t.oid, t.typname, t.typtype, coalesce(r.rngsubtype, nullif(t.typelem, 0), nullif(t.typbasetype, 0)) AS inner_type, i.proname = 'array_recv' AS is_array FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace LEFT JOIN pg_range r ON r.rngtypid = t.oid LEFT JOIN pg_proc i ON i.oid = t.typreceive WHERE t.typtype IN ('b', 'r', 'm', 'e', 'd', 'p') AND t.typname <> '_pg_statistic' AND NOT EXISTS (SELECT FROM pg_type e JOIN pg_class c ON c.oid = e.typrelid WHERE e.oid = t.typelem) ORDER BY CASE t.typtype WHEN 'b' THEN 0 WHEN 'r' THEN 1 ELSE 2 END, t.oid

-- fields of composite types
SELECT t.typname, a.attname, a.atttypid FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.relname IN ('ids', 'orders_id') AND t.typtype = 'c' ORDER BY 1, a.attnum

-- labels of enums
SELECT t.typname, e.enumlabel FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid ORDER BY e.enumsortorder

-- columns with defaults, comments and what they depend on
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid, true), p.description, k.objid FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum LEFT JOIN pg_description p ON p.objoid = c.oid AND p.objsubid = a.attnum LEFT JOIN pg_depend k ON k.refobjid = c.oid AND k.refobjsubid = a.attnum AND k.deptype = 'i' WHERE c.relkind IN ('r', 'v') AND c.oid = {ids} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- columns with collations, as a foreign schema is imported
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, l.collname, m.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 LEFT JOIN pg_collation l ON l.oid = a.attcollation LEFT JOIN pg_namespace m ON m.oid = l.collnamespace WHERE c.relkind IN ('r', 'v', 'f', 'm', 'p') AND n.nspname = 'nextid' ORDER BY 1, a.attnum

-- constraints, indexes and keys of a relation
SELECT k.conname, k.contype, pg_get_constraintdef(k.oid), i.relname, x.indisunique FROM pg_constraint k LEFT JOIN pg_index x ON x.indexrelid = k.conindid LEFT JOIN pg_class i ON i.oid = x.indexrelid WHERE k.conrelid = {ids} UNION ALL SELECT NULL, NULL, pg_get_indexdef(x.indexrelid), NULL, x.indisunique FROM pg_index x WHERE x.indrelid = {ids}

-- databases with owner, encoding and connection limit
SELECT d.datname, pg_get_userbyid(d.datdba), pg_encoding_to_char(d.encoding), d.datcollate, d.datallowconn, d.datconnlimit, d.datistemplate, has_database_privilege(d.oid, 'CREATE') FROM pg_database d ORDER BY 1

-- schemas with privileges and comments
SELECT n.oid, n.nspname, has_schema_privilege(n.oid, 'CREATE'), has_schema_privilege(n.oid, 'USAGE'), obj_description(n.oid, 'pg_namespace') FROM pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 2

-- relations with sizes, owners and comments
-- differs: a sequence of ours has no file
SELECT n.nspname, c.relname, c.relkind, pg_get_userbyid(c.relowner), pg_total_relation_size(c.oid), obj_description(c.oid, 'pg_class'), c.relhasrules, c.relispopulated FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('public', 'nextid') ORDER BY 1, 2

-- views with their source
SELECT n.nspname, c.relname, pg_get_viewdef(c.oid, true) <> '' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v' AND n.nspname IN ('public', 'nextid') ORDER BY 1, 2

-- sequences with their options
SELECT c.relname, format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle, (SELECT d.refobjid FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i')) FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid ORDER BY 1

-- functions with arguments, results and languages
SELECT p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid), l.lanname, p.prokind, p.provolatile, p.proisstrict, p.proretset, p.pronargs, p.pronargdefaults, p.proargmodes, p.proargnames, p.proallargtypes, obj_description(p.oid, 'pg_proc') FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public' ORDER BY 1, 2

-- the roles that a session may act as
SELECT r.rolname, r.rolsuper, r.rolcanlogin, r.rolcreatedb, pg_has_role(current_user, r.oid, 'MEMBER') FROM pg_roles r WHERE r.rolname !~ '^pg_' ORDER BY 1

-- memberships of roles
SELECT m.roleid::regrole, m.member::regrole FROM pg_auth_members m WHERE m.member = (SELECT oid FROM pg_roles WHERE rolname = current_user)

-- sessions with their database and state
SELECT datname, usename, state, backend_type FROM pg_stat_activity WHERE pid = pg_backend_pid()

-- locks that are not granted
SELECT l.pid, l.mode, l.relation::regclass FROM pg_locks l WHERE NOT l.granted

-- tables and views that a role may read
SELECT t.schemaname, t.name, has_any_column_privilege(current_user, quote_ident(t.schemaname) || '.' || quote_ident(t.name), 'SELECT') FROM (SELECT schemaname, tablename AS name FROM pg_tables UNION SELECT schemaname, viewname FROM pg_views UNION SELECT schemaname, matviewname FROM pg_matviews) t WHERE t.schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2

-- whether a table is there
SELECT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = 'public' AND table_name = 'schema_history'), EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = 'ids' AND n.nspname = ANY (current_schemas(false)))

-- keys and what they refer to
SELECT k.table_name, k.column_name, f.table_name, f.column_name FROM information_schema.table_constraints t JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name) LEFT JOIN information_schema.referential_constraints r USING (constraint_schema, constraint_name) LEFT JOIN information_schema.constraint_column_usage f USING (constraint_schema, constraint_name) WHERE k.table_schema = 'public'

-- information_schema: tables
SELECT * FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY table_schema, table_name

-- information_schema: columns
SELECT * FROM information_schema.columns WHERE table_schema IN ('public', 'nextid') ORDER BY table_schema, table_name, ordinal_position

-- information_schema: columns of catalogs
SELECT table_name, column_name, ordinal_position, data_type, udt_name, is_nullable FROM information_schema.columns WHERE table_schema = 'pg_catalog' AND table_name IN ('pg_class', 'pg_type', 'pg_roles') ORDER BY 1, 3

-- information_schema: schemata
SELECT * FROM information_schema.schemata WHERE schema_name <> 'pg_toast' ORDER BY schema_name

-- information_schema: views
SELECT * FROM information_schema.views WHERE table_schema IN ('public', 'nextid') ORDER BY table_name

-- information_schema: sequences
SELECT * FROM information_schema.sequences ORDER BY sequence_name

-- information_schema: constraints
SELECT * FROM information_schema.table_constraints WHERE table_schema = 'public'

-- information_schema: key columns
SELECT * FROM information_schema.key_column_usage WHERE table_schema = 'public'

-- information_schema: foreign keys
SELECT * FROM information_schema.referential_constraints WHERE constraint_schema = 'public'

-- information_schema: constraint columns
SELECT * FROM information_schema.constraint_column_usage WHERE table_schema = 'public'

-- information_schema: checks
SELECT * FROM information_schema.check_constraints WHERE constraint_schema = 'public'

-- information_schema: element types
SELECT * FROM information_schema.element_types WHERE object_schema = 'public'

-- pg_sequences
SELECT schemaname, sequencename, sequenceowner, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size FROM pg_sequences ORDER BY 2

-- pg_views, pg_tables
SELECT schemaname, viewname, viewowner FROM pg_views WHERE schemaname NOT IN ('pg_catalog', 'information_schema') UNION ALL SELECT schemaname, tablename, tableowner FROM pg_tables WHERE schemaname <> 'information_schema' AND schemaname <> 'pg_catalog' ORDER BY 1, 2

-- every catalog has PostgreSQL's columns
SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attlen, a.attbyval, a.attalign FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v') AND a.attnum > 0 ORDER BY n.nspname, c.relname, a.attnum

-- roles of objects
SELECT rolname FROM pg_catalog.pg_roles WHERE rolname NOT LIKE 'pg\_%' ORDER BY 1

-- regclass casts
SELECT 'ids'::regclass, 'public.ids'::regclass::oid = {ids}, '"Invoices"'::regclass, 'orders'::regclass::text, to_regclass('nosuch'), to_regclass('orders_id'), to_regtype('int8'), to_regtype('nosuch'), to_regproc('next_id'), to_regprocedure('next_id(text,bigint,timestamptz)'), to_regnamespace('nextid'), to_regrole('nosuch'), 'next_id(text,bigint,timestamptz)'::regprocedure

-- privileges
SELECT has_table_privilege('ids', 'SELECT'), has_table_privilege({ids}::oid, 'select'), has_schema_privilege('public', 'USAGE'), has_function_privilege('next_id(text,bigint,timestamptz)', 'EXECUTE'), has_database_privilege(current_database(), 'CONNECT'), has_column_privilege('ids', 'id', 'SELECT'), has_sequence_privilege('orders', 'USAGE'), pg_has_role(current_user, 'USAGE')

-- privileges on what is not there
SELECT has_table_privilege('nosuch', 'SELECT')

-- privileges on an OID that is not there
SELECT has_table_privilege(4242424242::oid, 'SELECT')

-- descriptions
SELECT obj_description('ids'::regclass, 'pg_class'), col_description('ids'::regclass, 1), obj_description('next_id(text,bigint,timestamptz)'::regprocedure, 'pg_proc'), shobj_description((SELECT oid FROM pg_database WHERE datname = 'nextid'), 'pg_database')

-- definitions
SELECT pg_get_functiondef('next_ids(text, bigint)'::regprocedure), pg_get_function_arguments('next_range(text, bigint)'::regprocedure), pg_get_function_result('next_range(text, bigint)'::regprocedure), pg_get_function_identity_arguments('next_id(text,bigint,timestamptz)'::regprocedure)

-- encodings and sizes
SELECT pg_encoding_to_char(6), pg_char_to_encoding('UTF8'), getdatabaseencoding(), pg_size_pretty(0::bigint), pg_size_pretty(10240::bigint), pg_size_pretty(123456789::bigint), pg_size_pretty(-123456789::bigint), pg_size_pretty(1234567890123::numeric), pg_relation_size('ids'), pg_total_relation_size('ids'::regclass)

-- session
SELECT current_schema(), current_schemas(false), current_schemas(true), current_database(), current_user, session_user, pg_my_temp_schema(), pg_is_in_recovery(), pg_is_other_temp_schema(2200)

-- types, with the kind of their relation
SELECT tableoid, oid, typname, typnamespace, typowner, typelem, typrelid <> 0, CASE WHEN typrelid = 0 THEN ' '::"char" ELSE (SELECT relkind FROM pg_class WHERE oid = typrelid) END AS typrelkind, typtype, typisdefined, typname[0] = '_' AND typelem != 0 AND (SELECT typarray FROM pg_type te WHERE oid = pg_type.typelem) = oid AS isarray FROM pg_type WHERE oid IN (16, 20, 1016, 2281)

-- sequences as tables
SELECT is_called FROM "Invoices" WHERE last_value < 0

-- what is granted
SELECT acldefault('r', 10)

-- options as a table
SELECT * FROM pg_options_to_table(ARRAY['a=b', 'c=', 'd'])

-- the rule of a view, and of what is none
SELECT pg_get_ruledef(4242424242::oid), pg_get_ruledef({ids}::oid), pg_get_viewdef(4242424242::oid), pg_get_viewdef('pg_class'::regclass) IS NULL

-- settings that functions read and set
SELECT current_setting('nosuch.x', true), current_setting('TimeZone'), set_config('application_name', 'x', false), set_config('application_name', NULL, false), set_config('search_path', 'public', true)

-- a setting that is not there
SELECT current_setting('nosuch')

-- a setting without a name
SELECT set_config(NULL, 'x', false)

-- a value that a setting cannot have
SELECT set_config('DateStyle', 'nosuch', false)

-- locks that nobody has, connections that are not there
SELECT pg_advisory_unlock(1), pg_advisory_unlock(1, 2), pg_cancel_backend(-1), pg_terminate_backend(-1)

-- names of what is not there
SELECT 4242424242::oid::regclass, 4242424242::oid::regtype, 4242424242::oid::regproc, 4242424242::oid::regprocedure, 4242424242::oid::regrole, 4242424242::oid::regnamespace, 4242424242::oid::regoperator

-- types that only the catalogs have, with lengths
SELECT format_type('bit'::regtype, 3), format_type('varbit'::regtype, 3), format_type('timetz'::regtype, 3), format_type('timetz'::regtype, NULL), format_type('_varbit'::regtype, 5), format_type(4242424242::oid, NULL), 'pg_type'::regtype, 'ids'::regtype, 'information_schema.tables'::regclass, 'information_schema'::regnamespace

-- names that cannot be
SELECT to_regclass('nosuch.ids'), to_regclass('pg_catalog.nosuch'), to_regtype('nosuch.x'), to_regproc('count'), to_regprocedure('nosuch(int)')

-- operators by OID
SELECT 410::regoperator

-- privileges of a role that is not there
SELECT has_table_privilege('nosuch', 'ids', 'SELECT')

-- privileges that are none
SELECT has_table_privilege('ids', 'NOSUCH')
