# sequelize-auto writes models of the tables and views that it finds.
. "$VERDICT/verdict.sh"
bin=$(cd ../node_modules && pwd)
out=$(mktemp -d)
version "$(node -p "require('$bin/sequelize-auto/package.json').version")"
if [ "$PROTOCOL" = mysql ]; then dialect=mysql; else dialect=postgres; fi
succeeds "generates models" "$bin/.bin/sequelize-auto" -e "$dialect" -h "$HOST" -p "$PORT" -u "$USER" -x "$PASSWORD" -d "$DB" -o "$out" --views
matches "the table ids" "$(cat "$out/ids.js" 2>&1)" "tableName: 'ids'"
rm -r "$out"
exit $failed
