-- The tables through which the server is asked. up runs this when it finds
-- another engine, or none.
DROP TABLE IF EXISTS nextid.ids, nextid.id_parts, nextid.id_fields, nextid.id_batch;

-- Reading a row of ids draws an id, and a read that names no generator draws
-- one of every generator.
CREATE TABLE nextid.ids (
    name VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id   BIGINT NOT NULL,
    PRIMARY KEY (name)
) {{at ids}};

-- Reading a row draws an id whose field for the caller's bits holds field. The
-- name is the last of the key: FEDERATED asks for a text before others with LIKE.
CREATE TABLE nextid.id_fields (
    name  VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    field BIGINT NOT NULL,
    id    BIGINT NOT NULL,
    PRIMARY KEY (field, name)
) {{at id_fields}};

-- What an id says: WHERE id = …
CREATE TABLE nextid.id_parts (
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
