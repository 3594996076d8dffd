# phpMyAdmin in PHP's own web server, with a configuration of its own.
. "$VERDICT/verdict.sh"
version "$(dpkg-query -W -f '${Version}' phpmyadmin)"
work=$(mktemp -d)
mkdir "$work/tmp"
cp -r /usr/share/phpmyadmin "$work/site"
sed -i "s|'configFile' => .*|'configFile' => '$work/config.php',|; s|'tempDir' => .*|'tempDir' => '$work/tmp/',|" "$work/site/libraries/vendor_config.php"
cat >"$work/config.php" <<P
<?php
\$cfg['blowfish_secret'] = str_repeat('k', 32);
\$cfg['Servers'][1] = ['host' => '$HOST', 'port' => '$PORT', 'auth_type' => 'config', 'user' => '$USER', 'password' => '$PASSWORD'];
P
php -d error_reporting=0 -S 127.0.0.1:0 -t "$work/site" >"$work/log" 2>&1 &
trap 'kill %1; rm -rf "$work"' EXIT
until web=$(grep -o 'http://127[^)]*' "$work/log"); do sleep 0.1; done
ask() { curl -s -L -m 60 -b "$work/jar" -c "$work/jar" "$@"; }
# looks ROUTE PART: the page has the part in it, and no error of the server.
looks() {
	local got
	got=$(ask "$web/index.php?route=$1")
	if grep -q 'MySQL said\|#[0-9]\{4\} - ' <<<"$got"; then
		fail "$1" "$(grep -A3 'MySQL said\|#[0-9]\{4\} - ' <<<"$got" | sed 's/<[^>]*>/ /g' | tr -s ' \n' ' ')"
	else
		matches "$1" "$got" "$2"
	fi
}
ask "$web/index.php" >"$work/first"
token=$(grep -o 'name="token" value="[^"]*"' "$work/first" | head -1 | cut -d'"' -f4)
drawn=$(ask -d "token=$token&db=$DB&ajax_request=1&is_js_confirmed=0" --data-urlencode "sql_query=SELECT next_id('phpmyadmin') AS drawn" "$web/index.php?route=/import")
matches "next_id" "$drawn" '"success":true'
if meta; then
	looks "/server/databases" "$DB"
	looks "/navigation&ajax_request=1" "$DB"
	looks "/database/structure&db=$DB" generators
	looks "/table/structure&db=$DB&table=generators" step
	looks "/sql&db=$DB&table=generators&pos=0" phpmyadmin
	looks "/table/search&db=$DB&table=generators" step
	looks "/server/status" "has been running for"
	looks "/server/status/processes" Query
	looks "/server/variables" version
	looks "/server/collations" utf8mb4
fi
exit $failed
