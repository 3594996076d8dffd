# Postfix's tables over both protocols: a key that is a name draws an id, an address is not found.
. "$VERDICT/verdict.sh"
export PATH=$PATH:/usr/sbin
files=$(mktemp -d)
trap 'rm -r "$files"' EXIT
lookup() { postmap -q "$1" "$type:$files/$type.cf" 2>&1; }
if [ "$PROTOCOL" = mysql ]; then type=mysql hosts=inet:$HOST:$PORT; else type=pgsql hosts=$HOST:$PORT; fi
cat >"$files/$type.cf" <<END
hosts = $hosts
user = $USER
password = $PASSWORD
dbname = $DB
query = SELECT id FROM ids WHERE name = '%s'
END
version "$(postconf -h mail_version)"
rising "a key that is a name" "$(lookup orders) $(lookup orders)"
equal "an address is not found" "$(lookup user@example.com; echo "status $?")" "status 1"
equal "a key with a quote" "$(lookup "o'brien"; echo "status $?")" "status 1"
exit $failed
