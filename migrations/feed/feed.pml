/* N feeders move the sequences of D databases to blocks of K numbers. No lock
 * keeps the feeders apart. A number that is drawn twice violates the assertion.
 *
 * A statement is refused for certain, or executed and answered, or its answer
 * is lost: then it is executed later, or never. A feeder may be killed at any
 * moment, and the answer of the generator may be lost.
 *
 * RETRY      After a lost answer the feeder uses the block again.
 * ADOPT      After a lost answer the feeder reads whether the sequence is in the
 *            block, and uses the block again if it is not.
 * TWOSTEPS   One statement moves the sequence, and a second one sets its bounds.
 * otherwise  The rule of package feed: after a lost answer the block is lost. */
#ifndef N
#define N 2
#endif
#define D 2
#define K 2
#define B 4                  /* blocks */
#define NONE B

byte hi;                     /* blocks that the generator has reserved */
byte next[D], last[D];       /* next > last: the sequence has reached its end */
bit drawn[B * K];
chan late = [2] of { byte, byte }   /* statements without an answer: database, block */

inline move(d, b) {
#ifdef TWOSTEPS
	next[d] = b * K; last[d] = B * K - 1
#else
	next[d] = b * K; last[d] = b * K + K - 1
#endif
}

proctype feeder() {
	byte hand = NONE, d;
	do
	:: atomic { hand == NONE && hi < B -> hand = hi; hi++ }       /* draw */
	:: atomic { hand == NONE && hi < B -> hi++ }                  /* the answer is lost */
	:: atomic { hand != NONE ->                                   /* move */
		if
		:: d = 0
		:: d = 1
		fi;
		if
		:: skip                                                  /* refused: a lock timeout */
		:: move(d, hand);
#ifdef TWOSTEPS
		   goto bound;
#endif
		   hand = NONE
		:: nfull(late) -> late!d, hand;                          /* no answer */
#if defined(RETRY)
		   skip
#elif defined(ADOPT)
		   if
		   :: next[d] / K == hand -> hand = NONE
		   :: else
		   fi
#else
		   hand = NONE
#endif
		fi }
	:: atomic { hand != NONE -> hand = NONE }                     /* kill -9; it starts again */
	:: hi == B && hand == NONE -> break
	od;
	goto end;
bound:
	atomic { last[d] = hand * K + K - 1; hand = NONE };
end:	skip
}

proctype database(byte d) {
	byte b;
	do
	:: atomic { next[d] <= last[d] -> assert(!drawn[next[d]]); drawn[next[d]] = 1; next[d]++ }
	:: atomic { late??eval(d), b -> move(d, b) }
	:: atomic { late??eval(d), b -> skip }                        /* it never arrives */
	:: timeout -> break
	od
}

init { atomic {
	byte i;
	for (i : 0 .. D-1) { next[i] = 1; last[i] = 0 }
	for (i : 1 .. N) { run feeder() }
	for (i : 0 .. D-1) { run database(i) } } }
