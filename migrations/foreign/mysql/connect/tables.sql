-- The tables that read from the server. up runs this every time. It drops tables of
-- another engine first.

-- Reading a row of ids draws an id. A read without a condition on the name draws
-- from every generator.
CREATE TABLE IF NOT EXISTS nextid.ids (
    name VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id   BIGINT NOT NULL,
    PRIMARY KEY (name)
) {{at ids}};

-- Reading a row draws an id whose field for the caller's bits holds field. The
-- name is last in the key: FEDERATED uses LIKE for a text that is not.
CREATE TABLE IF NOT EXISTS nextid.id_fields (
    name  VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    field BIGINT NOT NULL,
    id    BIGINT NOT NULL,
    PRIMARY KEY (field, name)
) {{at id_fields}};

-- The parts of an id: WHERE id = …
CREATE TABLE IF NOT EXISTS nextid.id_parts (
    id         BIGINT NOT NULL,
    layout     VARCHAR(64) CHARACTER SET ascii,
    kind       VARCHAR(64) CHARACTER SET ascii,
    time       DATETIME(6),
    datacenter BIGINT,
    worker     BIGINT,
    `rollback` BIGINT,
    sequence   BIGINT,
    field      BIGINT,
    PRIMARY KEY (id)
) {{at id_parts}};
