/* libpq's pipeline mode, in the flows of PostgreSQL's own pipeline tests that need no table. */
#include <libpq-fe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INT4 = 23, TEXT = 25, NUMERIC = 1700, INTERVAL = 1186 };

static PGconn *conn;
static int failed;        /* checks of this flow */
static int notices;       /* that libpq or the server raised */

static void fail(const char *format, ...)
{
	va_list args;
	if (failed++)
		return;
	va_start(args, format);
	printf("FAIL libpq-pipeline ");
	vprintf(format, args);
	printf(": %s\n", PQerrorMessage(conn));
	va_end(args);
}

static void notice(void *arg, const char *message)
{
	(void)arg;
	notices++;
	fprintf(stderr, "notice: %s", message);
}

static void need(int ok, const char *what)
{
	if (!ok)
		fail("%s", what);
}

/* want takes the next result, which must have this status. */
static PGresult *want(ExecStatusType status, const char *what)
{
	PGresult *r = PQgetResult(conn);
	if (!r)
		fail("%s: no result, want %s", what, PQresStatus(status));
	else if (PQresultStatus(r) != status)
		fail("%s: %s, want %s", what, PQresStatus(PQresultStatus(r)), PQresStatus(status));
	return r;
}

static void want_and_clear(ExecStatusType status, const char *what) { PQclear(want(status, what)); }

static void want_end(const char *what)
{
	PGresult *r = PQgetResult(conn);
	if (r)
		fail("%s: %s, want the end of the results", what, PQresStatus(PQresultStatus(r)));
	PQclear(r);
}

static void want_value(const char *value, const char *what)
{
	PGresult *r = want(PGRES_TUPLES_OK, what);
	if (r && (PQntuples(r) != 1 || strcmp(PQgetvalue(r, 0, 0), value)))
		fail("%s: %d rows, first %s, want %s", what, PQntuples(r), PQntuples(r) ? PQgetvalue(r, 0, 0) : "-", value);
	PQclear(r);
}

/* ask sends a query with up to one int4 parameter. */
static void ask(const char *sql, const char *param)
{
	const Oid types[] = { INT4 };
	const char *values[] = { param };
	need(PQsendQueryParams(conn, sql, param ? 1 : 0, types, values, NULL, NULL, 0), sql);
}

static void enter(void) { need(PQenterPipelineMode(conn), "enter pipeline mode"); }
static void sync_(void) { need(PQpipelineSync(conn), "sync"); }
static void leave(void) { need(PQexitPipelineMode(conn), "leave pipeline mode"); }

static void disallowed_in_pipeline(void)
{
	PGresult *r;
	enter();
	need(PQpipelineStatus(conn) == PQ_PIPELINE_ON, "the pipeline is on");
	need(!PQisnonblocking(conn), "the connection still blocks");
	r = PQexec(conn, "SELECT 1");
	need(PQresultStatus(r) == PGRES_FATAL_ERROR, "PQexec is refused in a pipeline");
	PQclear(r);
	enter(); /* again: no matter */
	need(!PQisBusy(conn), "not busy");
	leave();
	leave();
	r = PQexec(conn, "SELECT 1");
	need(PQresultStatus(r) == PGRES_TUPLES_OK, "PQexec behind the pipeline");
	PQclear(r);
}

static void simple_pipeline(void)
{
	enter();
	ask("SELECT $1", "1");
	need(!PQexitPipelineMode(conn), "no way out while a query is under way");
	sync_();
	want_value("1", "the query");
	want_end("the query");
	need(!PQexitPipelineMode(conn), "no way out before the sync");
	want_and_clear(PGRES_PIPELINE_SYNC, "the sync");
	want_end("the sync");
	need(PQpipelineStatus(conn) == PQ_PIPELINE_ON, "still on");
	leave();
	need(PQpipelineStatus(conn) == PQ_PIPELINE_OFF, "off");
}

static void multi_pipelines(void)
{
	enter();
	ask("SELECT $1", "1");
	sync_();
	ask("SELECT $1", "2");
	sync_();
	for (int i = 0; i < 2; i++) {
		want_value(i ? "2" : "1", "a query");
		want_end("a query");
		need(i == 1 || !PQexitPipelineMode(conn), "no way out in between");
		want_and_clear(PGRES_PIPELINE_SYNC, "a sync");
	}
	want_end("both");
	leave();
}

/* Many queries without a Sync: the answers must come all the same, and the
 * server must not wait for somebody to read them before it reads on. */
static void nosync(void)
{
	enum { QUERIES = 1000 };
	int got = 0, sent = 0;
	char text[61] = "";
	for (int i = 0; i < 12; i++)
		strcat(text, "xyzxz");
	need(PQsetnonblocking(conn, 1) == 0, "non-blocking");
	enter();
	for (; sent < QUERIES; sent++) {
		ask("SELECT repeat('xyzxz', 12)", NULL);
		need(PQflush(conn) >= 0, "flush");
		need(PQconsumeInput(conn), "consume");
	}
	need(PQsendFlushRequest(conn), "flush request");
	while (PQflush(conn) > 0)
		need(PQconsumeInput(conn), "consume");
	need(PQsetnonblocking(conn, 0) == 0, "blocking");
	for (; got < QUERIES && !failed; got++) {
		want_value(text, "a query without sync");
		want_end("a query without sync");
	}
	sync_();
	want_and_clear(PGRES_PIPELINE_SYNC, "the sync at the end");
	leave();
}

/* libpq complains about messages that arrive while it waits for nothing. */
static void pipeline_idle(void)
{
	int before = notices;
	enter();
	for (int i = 0; i < 3; i++) {
		ask("SELECT 1", NULL);
		need(PQsendFlushRequest(conn), "flush request");
		want_value("1", "a query");
		want_end("a query");
		if (i == 1) { /* an empty pipeline and a sync of its own */
			sync_();
			want_and_clear(PGRES_PIPELINE_SYNC, "the sync");
			want_end("the sync");
			leave();
			enter();
		}
	}
	ask("SELECT 2", NULL);
	need(!PQexitPipelineMode(conn), "no way out while a query is under way");
	need(PQsendFlushRequest(conn), "flush request");
	want_value("2", "a query");
	want_end("a query");
	need(PQexitPipelineMode(conn), "leave without a sync: nothing is under way");
	need(notices == before, "no notice");

	enter(); /* a warning among the rows */
	ask("SELECT pg_catalog.pg_advisory_unlock(1,1)", NULL);
	need(PQsendFlushRequest(conn), "flush request");
	want_value("f", "a lock that nobody holds");
	want_end("a lock that nobody holds");
	leave();
	need(notices == before + 1, "one warning");
}

static void singlerow(void)
{
	const char *last[] = { "44", "45", "46" };
	enter();
	for (int i = 0; i < 3; i++) /* the server finds out that $1 is an int4 */
		need(PQsendQueryParams(conn, "SELECT generate_series(42, $1)", 1, NULL, last + i, NULL, NULL, 0), "generate_series");
	sync_();
	for (int i = 0; i < 3; i++) {
		int single = i != 1, rows = 0;
		PGresult *r;
		if (single)
			need(PQsetSingleRowMode(conn), "single-row mode");
		while ((r = PQgetResult(conn))) {
			if (PQresultStatus(r) == PGRES_SINGLE_TUPLE) {
				need(single && PQntuples(r) == 1 && atoi(PQgetvalue(r, 0, 0)) == 42 + rows, "a single row");
				rows++;
			} else {
				need(PQresultStatus(r) == PGRES_TUPLES_OK, "the end of the rows");
				rows += PQntuples(r);
			}
			PQclear(r);
		}
		if (rows != 3 + i)
			fail("%d rows of query %d", rows, i);
	}
	want_and_clear(PGRES_PIPELINE_SYNC, "the sync");
	want_end("the sync");
	/* A row that was asked for alone, then the rest as usual. */
	ask("SELECT generate_series(0, 0)", NULL);
	need(PQsendFlushRequest(conn), "flush request");
	need(PQsetSingleRowMode(conn), "single-row mode");
	want_and_clear(PGRES_SINGLE_TUPLE, "first of two");
	want_and_clear(PGRES_TUPLES_OK, "first of two");
	want_end("first of two");
	ask("SELECT 1", NULL);
	need(PQsendFlushRequest(conn), "flush request");
	want_value("1", "second of two");
	want_end("second of two");
	leave();
}

static void prepared(void)
{
	const Oid types[] = { INT4 }, columns[] = { INT4, TEXT, NUMERIC, INTERVAL };
	PGresult *r;
	enter();
	need(PQsendPrepare(conn, "select_one", "SELECT $1, '42', $1::numeric, interval '1 sec'", 1, types), "prepare");
	need(PQsendDescribePrepared(conn, "select_one"), "describe");
	sync_();
	want_and_clear(PGRES_COMMAND_OK, "prepare");
	want_end("prepare");
	r = want(PGRES_COMMAND_OK, "describe");
	need(PQnfields(r) == 4 && PQnparams(r) == 1 && PQparamtype(r, 0) == INT4, "four columns, one parameter");
	for (int i = 0; i < PQnfields(r) && i < 4; i++)
		if (PQftype(r, i) != columns[i])
			fail("column %d has type %u", i, PQftype(r, i));
	PQclear(r);
	want_end("describe");
	want_and_clear(PGRES_PIPELINE_SYNC, "the sync");
	leave();

	PQclear(PQexec(conn, "BEGIN"));
	PQclear(PQexec(conn, "DECLARE cursor_one CURSOR FOR SELECT 1"));
	enter();
	need(PQsendDescribePortal(conn, "cursor_one"), "describe a cursor");
	sync_();
	r = want(PGRES_COMMAND_OK, "describe a cursor");
	need(PQnfields(r) == 1 && PQftype(r, 0) == INT4, "one column, int4");
	PQclear(r);
	want_end("describe a cursor");
	want_and_clear(PGRES_PIPELINE_SYNC, "the sync");
	leave();
	PQclear(PQexec(conn, "COMMIT"));
	PQclear(PQexec(conn, "DEALLOCATE select_one"));
}

static void aborted_pipeline(void)
{
	enter();
	ask("SELECT $1", "1");
	ask("SELECT no_such_function($1)", "1");
	ask("SELECT $1", "2");
	sync_();
	ask("SELECT $1", "3");
	sync_();
	want_value("1", "before the error");
	want_end("before the error");
	want_and_clear(PGRES_FATAL_ERROR, "the error");
	want_end("the error");
	need(PQpipelineStatus(conn) == PQ_PIPELINE_ABORTED, "the pipeline is aborted");
	want_and_clear(PGRES_PIPELINE_ABORTED, "behind the error");
	want_end("behind the error");
	want_and_clear(PGRES_PIPELINE_SYNC, "the first sync");
	need(PQpipelineStatus(conn) == PQ_PIPELINE_ON, "on again");
	want_value("3", "the second pipeline");
	want_end("the second pipeline");
	want_and_clear(PGRES_PIPELINE_SYNC, "the second sync");
	need(PQtransactionStatus(conn) == PQTRANS_IDLE, "no transaction is left");

	/* An error among rows: those before it arrive. */
	need(PQsendQueryParams(conn, "SELECT 1.0/g FROM generate_series(3, -1, -1) g", 0, NULL, NULL, NULL, NULL, 0), "division");
	sync_();
	need(PQsetSingleRowMode(conn), "single-row mode");
	for (int i = 0; i < 3; i++)
		want_and_clear(PGRES_SINGLE_TUPLE, "a row before the error");
	want_and_clear(PGRES_FATAL_ERROR, "the division by zero");
	want_end("the division by zero");
	want_and_clear(PGRES_PIPELINE_SYNC, "the sync");
	leave();
}

static void rollback(void)
{
	need(PQsendQueryPrepared(conn, "rollback", 0, NULL, NULL, NULL, 1), "ROLLBACK");
}

/* A pipeline that failed is skipped up to its sync, transaction commands too. */
static void transaction(void)
{
	enter();
	need(PQsendPrepare(conn, "rollback", "ROLLBACK", 0, NULL), "prepare");
	ask("BEGIN", NULL);
	ask("SELECT 0/0", NULL);
	rollback(); /* skipped */
	ask("SELECT 1", NULL);
	sync_();
	ask("SELECT 2", NULL); /* in the failed transaction */
	sync_();
	rollback();
	ask("SELECT 3", NULL);
	sync_();
	sync_();
	want_and_clear(PGRES_COMMAND_OK, "prepare");
	want_end("prepare");
	want_and_clear(PGRES_COMMAND_OK, "BEGIN");
	want_end("BEGIN");
	want_and_clear(PGRES_FATAL_ERROR, "the error");
	want_end("the error");
	for (int i = 0; i < 2; i++) {
		want_and_clear(PGRES_PIPELINE_ABORTED, "behind the error");
		want_end("behind the error");
	}
	want_and_clear(PGRES_PIPELINE_SYNC, "sync 1");
	want_and_clear(PGRES_FATAL_ERROR, "in the failed transaction");
	want_end("in the failed transaction");
	want_and_clear(PGRES_PIPELINE_SYNC, "sync 2");
	want_and_clear(PGRES_COMMAND_OK, "ROLLBACK");
	want_end("ROLLBACK");
	want_value("3", "behind ROLLBACK");
	want_end("behind ROLLBACK");
	want_and_clear(PGRES_PIPELINE_SYNC, "sync 3");
	want_and_clear(PGRES_PIPELINE_SYNC, "sync 4");
	leave();
	need(PQtransactionStatus(conn) == PQTRANS_IDLE, "no transaction is left");
}

static void cancel(void)
{
	char error[256];
	PGcancel *c;
	PGresult *r;
	need(PQsendQuery(conn, "SELECT pg_sleep(60)"), "send");
	c = PQgetCancel(conn);
	for (int i = 0; i < 100 && !failed; i++) { /* until the statement has begun, a cancel has no effect */
		need(PQcancel(c, error, sizeof error), "cancel");
		need(PQconsumeInput(conn), "consume");
		if (!PQisBusy(conn))
			break;
		usleep(50 * 1000);
	}
	PQfreeCancel(c);
	r = want(PGRES_FATAL_ERROR, "the canceled query");
	need(r && PQresultErrorField(r, PG_DIAG_SQLSTATE) && !strcmp(PQresultErrorField(r, PG_DIAG_SQLSTATE), "57014"), "SQLSTATE 57014");
	PQclear(r);
	want_end("the canceled query");
}

int main(void)
{
	static const struct { const char *name; void (*run)(void); } flows[] = {
		{ "disallowed_in_pipeline", disallowed_in_pipeline }, { "simple_pipeline", simple_pipeline },
		{ "multi_pipelines", multi_pipelines }, { "nosync", nosync }, { "pipeline_idle", pipeline_idle },
		{ "singlerow", singlerow }, { "prepared", prepared }, { "aborted_pipeline", aborted_pipeline },
		{ "transaction", transaction }, { "cancel", cancel },
	};
	const char *keys[] = { "host", "port", "user", "password", "dbname", "connect_timeout", NULL };
	const char *values[] = { getenv("HOST"), getenv("PORT"), getenv("USER"), getenv("PASSWORD"), getenv("DB"), "10", NULL };
	int bad = 0;
	printf("version libpq-pipeline %d.%d\n", PQlibVersion() / 10000, PQlibVersion() % 10000);
	for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
		failed = 0;
		conn = PQconnectdbParams(keys, values, 0);
		PQsetNoticeProcessor(conn, notice, NULL);
		if (PQstatus(conn) == CONNECTION_OK)
			flows[i].run();
		else
			fail("%s: connect", flows[i].name);
		if (failed)
			printf("FAIL libpq-pipeline %s: %d checks\n", flows[i].name, failed);
		else
			printf("ok libpq-pipeline %s\n", flows[i].name);
		bad |= failed;
		PQfinish(conn);
	}
	return bad != 0;
}
