. "$VERDICT/verdict.sh"
export PGPASSWORD=$PASSWORD PGHOST=$HOST PGPORT=$PORT PGUSER=$USER PGDATABASE=$DB PGCONNECT_TIMEOUT=10
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -1)
version "$(pgbench --version | awk '{print $3}')"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/plain" <<'SQL'
SELECT next_id('orders');
SQL
cat >"$dir/parameter" <<'SQL'
\set n 3
SELECT * FROM next_ids('orders', :n);
SQL
cat >"$dir/pipeline" <<'SQL'
\startpipeline
SELECT next_id('orders');
SELECT next_id('orders');
SELECT next_id('orders');
\endpipeline
SQL
cat >"$dir/transaction" <<'SQL'
BEGIN;
SELECT next_id('orders');
END;
SQL
cat >"$dir/gset" <<'SQL'
SELECT next_id('orders') AS id \gset
SELECT :id;
SQL
cat >"$dir/aset" <<'SQL'
SELECT next_id('orders') \; SELECT next_id('orders') \aset
SQL

# bench SCRIPT OPTION...
bench() {
	local output script=$1
	shift
	output=$(pgbench -n -f "$dir/$script" "$@" 2>&1)
	if [[ $output != *aborted* ]]; then matches "$script $*" "$output" "failed transactions: 0"; else fail "$script $*" "$output"; fi
}
for mode in simple extended prepared; do
	for script in plain parameter transaction; do bench $script -M $mode -t 2; done
done
for mode in extended prepared; do
	bench pipeline -M $mode -t 2
	bench gset -M $mode -t 1
done
bench gset -M simple -t 1
bench aset -M simple -t 1
bench plain -M simple -C -t 2
bench plain -M prepared -c 2 -j 2 -t 2
exit $failed
