-- 00005_missing.sql makes the functions that an earlier version of this file made.

-- +goose Up

-- +goose Down
