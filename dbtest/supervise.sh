# Reads lines from a test program: "process PID", "ended PID", "dir DIRECTORY".
# When the program has ended, and with it the input, kills the processes that have
# not ended and removes the directories.
trap '' HUP INT TERM
processes=' ' dirs=
while read -r what which; do
	case $what$processes in
	process*) processes="$processes$which " ;;
	ended*" $which "*) processes="${processes%%" $which "*} ${processes#*" $which "}" ;;
	dir*) dirs="$dirs $which" ;;
	esac
done
# PostgreSQL frees its shared memory on SIGQUIT. A stopped process handles signals
# after SIGCONT.
for process in $processes; do
	kill -s QUIT "$process"
	kill -s CONT "$process"
done 2>/dev/null
for try in 1 2 3 4 5 6 7 8 9 10; do
	left=
	for process in $processes; do
		kill -s 0 "$process" 2>/dev/null && left=some
	done
	[ -n "$left" ] || break
	sleep 0.2
done
for process in $processes; do
	kill -s KILL -- "-$process"
	kill -s KILL "$process"
done 2>/dev/null
for dir in $dirs; do
	case $dir in /?*/db[0-9]*) rm -rf "$dir" ;; esac
done
