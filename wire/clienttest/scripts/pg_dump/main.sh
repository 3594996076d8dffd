# A dump of sequences by pg_dump is read back. No id is issued twice.
. "$VERDICT/verdict.sh"
export PGPASSWORD=$PASSWORD PGHOST=$HOST PGPORT=$PORT PGUSER=$USER PGDATABASE=$DB PSQLRC=/dev/null PGCONNECT_TIMEOUT=10
version "$(pg_dump --version | awk '{print $3}')"
q() { psql -X -At -v ON_ERROR_STOP=1 "$@" 2>&1; }

name=dumped_$$
before=$(q -q -c "CREATE SEQUENCE $name START 100 INCREMENT 5" -c "SELECT nextval('$name')")
dump=$(pg_dump --clean --if-exists -t "public.$name" 2>&1)
matches "a sequence" "$dump" "CREATE SEQUENCE public.$name"
matches "its position" "$dump" "pg_catalog.setval('public.$name'"
matches "back into the server" "$(q -q <<<"$dump")" "keeps no owners of sequences"
rising "an id before and after" "$before $(q -c "SELECT nextval('$name')")"
q -q -c "DROP SEQUENCE $name"
if meta; then
	matches "meta --schema-only" "$(pg_dump --schema-only 2>&1)" "database dump complete"
	matches "meta --data-only of ids" "$(pg_dump --data-only -t ids 2>&1)" "database dump complete"
fi
exit $failed
