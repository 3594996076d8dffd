# The verdicts of a shell client, to be sourced: one line a check, for the test to read.
failed=0

meta() { case ",$CHECKS," in *,meta,*) true ;; *) false ;; esac; }
version() { echo "version $CLIENT $*"; }
ok() { echo "ok $CLIENT $1"; }
fail() {
	echo "FAIL $CLIENT $1: ${2//$'\n'/ }"
	failed=1
}

# rising WHAT OUTPUT: the output is two ids, the second larger.
rising() {
	local what=$1
	set -- $2
	if [ $# = 2 ] && [[ $1$2 =~ ^[0-9]+$ ]] && [ "$2" -gt "$1" ]; then ok "$what"; else fail "$what" "$*"; fi
}

# equal WHAT OUTPUT WANT
equal() { if [ "$2" = "$3" ]; then ok "$1"; else fail "$1" "$2"; fi; }

# matches WHAT OUTPUT PART: the output has the part in it.
matches() { if [[ $2 == *"$3"* ]]; then ok "$1"; else fail "$1" "$2"; fi; }

# succeeds WHAT COMMAND...: the command ends with status 0.
succeeds() {
	local what=$1 output
	shift
	if output=$("$@" 2>&1); then ok "$what"; else fail "$what" "$output"; fi
}
