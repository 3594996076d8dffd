# pgtyped writes TypeScript types of queries, which it lets the server describe.
. "$VERDICT/verdict.sh"
bin=$(cd ../node_modules && pwd)
out=$(mktemp -d)
version "$(node -p "require('$bin/@pgtyped/cli/package.json').version")"
cat >"$out/ids.sql" <<'SQL'
/* @name Next */
SELECT next_id(:name!) AS id;
/* @name Draw */
SELECT name, id FROM ids WHERE name = :name!;
/* @name Batch */
SELECT id FROM next_ids(:name, :n) AS b(id);
SQL
cat >"$out/config.json" <<JSON
{"transforms": [{"mode": "sql", "include": "**/*.sql", "emitTemplate": "{{dir}}/{{name}}.ts"}], "srcDir": "$out", "failOnError": true,
 "camelCaseColumnNames": false, "db": {"host": "$HOST", "port": $PORT, "user": "$USER", "password": "$PASSWORD", "dbName": "$DB", "ssl": false}}
JSON
succeeds "generates types" "$bin/.bin/pgtyped" -c "$out/config.json"
types=$(cat "$out/ids.ts" 2>&1)
matches "a query" "$types" "interface INextResult"
matches "the table ids" "$types" "interface IDrawResult"
rm -r "$out"
exit $failed
