/* One worker id over failovers of its store that lose the newest commits.
 * N servers stamp ids with id time, which is real time plus off. A slice of W ticks is
 * reserved by raising the row hi. One tick of all is watched: a second server that may
 * issue it violates the assertion. A server that does nothing for a while is one that is
 * stopped.
 *
 * At most one clock is wrong. WRONG is the server (0 to N-1) whose id time starts behind
 * or ahead and whose machine may stand still, or the store (N) whose clock is off.
 *
 * OLD        A failover is noted with the wall clock of the server that sees it first.
 *            Time is granted once the time of the claimer has passed that by WAIT.
 * NOFLOOR    An epoch is settled by monotonic clocks. Time is granted from the time of
 *            the claimer on.
 * otherwise  The rule of type epoch.
 *
 * A commit may be lost at any moment, an answer too: then nothing is adopted. */
#ifndef N
#define N 2
#endif
#ifndef WRONG
#define WRONG N
#endif
#ifndef T
#define T 6               /* real time ends */
#endif
#ifndef FAILS
#define FAILS 1           /* failovers */
#endif
#define W 1               /* a slice */
#define WAIT 3            /* longer than a slice */
#define D 4               /* how far behind a clock is */
#define AHEAD 1           /* how far ahead: WAIT is longer than two slices by as much */
#define MAX(a,b) (a > b -> a : b)

byte now = D;             /* real time; D keeps all times positive */
byte hi, older;           /* the row, and the older state of it */
byte epoch = 1;
bit kept, settled = 1;    /* the first epoch needs no wait */
byte floor, since;
short store_off;
byte watched;
bit issued;

bit holds[N], frozen[N];  /* holds: a reserved slice has the watched tick */
byte knows[N], seen[N];   /* the epoch that the server met, and since when */
byte up[N];               /* the greatest end that the server was granted */
short off[N];

proctype server(byte i) {
	byte base, k;
	do
	:: atomic { !frozen[i] && knows[i] != epoch ->                 /* meet */
		knows[i] = epoch; seen[i] = 0;
#ifdef OLD
		if
		:: since == 255 -> if
			:: i == WRONG -> since = now - D
			:: i == WRONG -> since = now + D
			:: since = now
			fi
		:: else
		fi
#else
		hi = MAX(hi, up[i]);                                         /* raise */
		if
		:: kept -> skip
		:: else -> up[i] = 0
		fi
#endif
	   }
#ifndef OLD
	:: atomic { !frozen[i] && knows[i] == epoch && !settled && seen[i] >= WAIT ->
		settled = 1; floor = now + store_off;
		for (k : 0 .. N-1) { seen[k] = 0 } k = 0 }
#endif
	:: atomic { !frozen[i] && knows[i] == epoch &&                 /* reserve */
#ifdef OLD
		(epoch == 1 || now + off[i] >= since + WAIT)
#else
		settled
#endif
		->
#if !defined(OLD) && !defined(NOFLOOR)
		if
		:: epoch > 1 && floor > now + off[i] -> off[i] = floor - now
		:: else
		fi;
#endif
		base = MAX(hi, now + off[i]);
		if
		:: base <= now + off[i] + W ->
			hi = base + W;
			up[i] = (kept -> MAX(up[i], hi) : up[i]);                /* what is older has it already */
			if
			:: holds[i] = (base <= watched && watched < hi)
			:: skip                                              /* the answer is lost */
			fi
		:: else
		fi; base = 0 }
	:: atomic { !frozen[i] && holds[i] ->                          /* issue */
		holds[i] = 0;
		if
		:: now + off[i] == watched -> assert(!issued); issued = 1
		:: else
		fi }
	:: atomic { !frozen[i] && knows[i] ->                          /* kill -9; it starts again */
		holds[i] = 0; knows[i] = 0; seen[i] = 0; up[i] = 0; off[i] = 0;
#if WRONG < N
		if
		:: i == WRONG -> off[i] = 0 - D
		:: i == WRONG -> off[i] = AHEAD
		:: skip
		fi
#endif
	   }
#if WRONG < N
	:: atomic { i == WRONG && !frozen[i] -> frozen[i] = 1 }        /* the machine stands still */
	:: atomic { frozen[i] -> frozen[i] = 0 }
#endif
	:: now >= D + T -> break
	od
}

proctype store() {
	do
	:: atomic { !kept && epoch <= FAILS -> kept = 1; older = hi }
	:: atomic { kept -> kept = 0; hi = older; older = 0; epoch++; settled = 0; floor = 0; since = 255; store_off = 0;
		if
		:: WRONG == N -> store_off = 0 - D
		:: WRONG == N -> store_off = D
		:: skip
		fi }
	:: now >= D + T -> break
	od
}

proctype time() {
	byte k;
	do
	:: atomic { now < D + T -> now++;
		for (k : 0 .. N-1) {
			if
			:: frozen[k] && off[k] > 0 - D -> off[k]--
			:: frozen[k] && off[k] == 0 - D -> skip
			:: !frozen[k] && knows[k] && !settled && seen[k] < WAIT -> seen[k]++
			:: else
			fi;
			if
			:: holds[k] && now + off[k] > watched -> holds[k] = 0
			:: else
			fi
		} k = 0 }
	:: now >= D + T -> break
	od
}

init { atomic {
	byte j;
	do :: watched < 2*D + T -> watched++ :: break od;
#if WRONG < N
	if
	:: off[WRONG] = 0 - D
	:: off[WRONG] = AHEAD
	:: skip
	fi;
#endif
	for (j : 0 .. N-1) { run server(j) }
	run store(); run time() } }
