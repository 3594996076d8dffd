-- The columns for which up made triggers. status reports a trigger that is missing.

-- +goose Up
CREATE TABLE IF NOT EXISTS nextid.fills (
    table_schema VARCHAR(64)  NOT NULL,
    table_name   VARCHAR(64)  NOT NULL,
    column_name  VARCHAR(64)  NOT NULL,
    generator    VARCHAR(128) NOT NULL,
    PRIMARY KEY (table_schema, table_name, column_name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS nextid.fills;
