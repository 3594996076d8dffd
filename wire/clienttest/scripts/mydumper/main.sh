# mydumper dumps a server without tables of its own: views, and no row, so that no id is drawn.
. "$VERDICT/verdict.sh"
version "$(mydumper --version | sed 's/^mydumper \([0-9.]*\).*/\1/; q')"
out=$(mktemp -d)
succeeds "a database" mydumper -h "$HOST" -P "$PORT" -u "$USER" -p "$PASSWORD" -B "$DB" -o "$out"
succeeds "the view ids" grep -qi "ids" "$out/$DB.ids-schema-view.sql"
rm -r "$out"
exit $failed
