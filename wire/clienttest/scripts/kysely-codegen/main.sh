# kysely-codegen writes TypeScript types of the tables that it finds.
. "$VERDICT/verdict.sh"
bin=$(cd ../node_modules && pwd)
out=$(mktemp -d)
version "$(node -p "require('$bin/kysely-codegen/package.json').version")"
if [ "$PROTOCOL" = mysql ]; then dialect=mysql; else dialect=postgres; fi
succeeds "generates types" "$bin/.bin/kysely-codegen" --dialect "$dialect" --out-file "$out/types.ts" \
	--url "${dialect/postgres/postgresql}://$USER:$PASSWORD@$HOST:$PORT/$DB"
matches "the table ids" "$(cat "$out/types.ts" 2>&1)" "interface Ids "
rm -r "$out"
exit $failed
