# drizzle-kit writes a schema of the tables and views that it finds.
. "$VERDICT/verdict.sh"
bin=$(cd ../node_modules && pwd)
out=$(mktemp -d)
version "$(node -p "require('$bin/drizzle-kit/package.json').version")"
if [ "$PROTOCOL" = mysql ]; then dialect=mysql; else dialect=postgresql; fi
succeeds "introspects" "$bin/.bin/drizzle-kit" introspect --dialect="$dialect" --url="$dialect://$USER:$PASSWORD@$HOST:$PORT/$DB" --out="$out"
matches "the table ids" "$(cat "$out/schema.ts" 2>&1)" '"ids"'
rm -r "$out"
exit $failed
