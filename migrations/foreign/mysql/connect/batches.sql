
-- n new ids: WHERE name = … AND n = …
CREATE TABLE IF NOT EXISTS nextid.id_batch (
    name VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    n    BIGINT NOT NULL,
    id   BIGINT NOT NULL,
    PRIMARY KEY (name, n, id)
) {{at id_batch}};
