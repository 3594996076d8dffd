
GRANT USAGE ON SCHEMA nextid TO {{role}};
GRANT EXECUTE ON FUNCTION nextid.layout_of(text), nextid.field(bigint, text, text), nextid.id_time(bigint, text), nextid.id_bound(text, timestamptz, boolean),
    nextid.id_floor(text, timestamptz), nextid.id_ceil(text, timestamptz), nextid.partition_ddl(regclass, text, text, timestamptz, timestamptz) TO {{role}};
