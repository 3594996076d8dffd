# Adminer in PHP's own web server: log in, list, look at a table, run a query.
. "$VERDICT/verdict.sh"
version "$(dpkg-query -W -f '${Version}' adminer)"
work=$(mktemp -d)
php -d error_reporting=0 -S 127.0.0.1:0 -t /usr/share/adminer >"$work/log" 2>&1 &
trap 'kill %1; rm -rf "$work"' EXIT
until web=$(grep -o 'http://127[^)]*' "$work/log"); do sleep 0.1; done
page=$web/adminer/index.php
ask() { curl -s -L -m 60 -b "$work/jar" -c "$work/jar" "$@"; }
text() { sed 's/<script.*<\/script>//; s/<[^>]*>/ /g' | tr -s ' \n' ' '; }

driver=pgsql schema='&ns=nextid'
if [ "$PROTOCOL" = mysql ]; then driver=server schema=; fi
at="$page?$driver=$HOST%3A$PORT&username=$USER&db=$DB$schema"
ask "$page" >"$work/login"
login=$(ask -d "auth[driver]=$driver&auth[server]=$HOST:$PORT&auth[username]=$USER&auth[password]=$PASSWORD&auth[db]=$DB" "$page")
matches "log in" "$login" "Logout"
token=$(grep -o "name='token' value='[^']*'" <<<"$login" | head -1 | cut -d"'" -f4)
run() { ask --data-urlencode "query=$1" -d "token=$token" "$at&sql=" | text; }
matches "next_id" "$(run "SELECT 'drawn', next_id('adminer') > 0, 'so'")" "drawn"
matches "an error" "$(run "SELECT next_id('-')")" "Error in query"
if meta; then
	for look in "" "&select=generators" "&table=generators" "&dump=" "&schema=" "&processlist=" "&variables="; do
		got=$(ask "$at$look")
		if [[ $got == *"class='error'"* ]]; then fail "the page $look" "$(text <<<"$got")"; else matches "the page $look" "$got" "Logout"; fi
	done
fi
exit $failed
