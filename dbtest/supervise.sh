# Reads lines from a test program: "process PID", "ended PID", "dir DIRECTORY".
# At the end of input, which is the end of the program, all is cleaned up.
trap '' HUP INT TERM
processes=' ' dirs=
while read -r what which; do
	case $what$processes in
	process*) processes="$processes$which " ;;
	ended*" $which "*) processes="${processes%%" $which "*} ${processes#*" $which "}" ;;
	dir*) dirs="$dirs $which" ;;
	esac
done
# PostgreSQL frees its shared memory when it is told to quit. A frozen process
# obeys once it goes on.
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
