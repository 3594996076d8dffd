/* MariaDB Connector/C: what the other clients that stand on it do not use. */
#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *client;
static bool failed;
static MYSQL *db;

static const char *next = "SELECT next_id('orders')";

static void verdict(const char *what, bool ok, const char *why) {
	if (ok) {
		printf("ok %s %s\n", client, what);
	} else {
		printf("FAIL %s %s: %s\n", client, what, why);
		failed = true;
	}
}

static void rising(const char *what, long long a, long long b) {
	char why[200];
	snprintf(why, sizeof why, "%lld, %lld: %s", a, b, mysql_error(db));
	verdict(what, 0 < a && a < b, why);
}

/* The id of a result in text. */
static long long text_id(void) {
	MYSQL_RES *result = mysql_store_result(db);
	MYSQL_ROW row = result ? mysql_fetch_row(result) : NULL;
	long long id = row ? atoll(row[0]) : 0;
	mysql_free_result(result);
	return id;
}

static long long query(void) { return mysql_query(db, next) ? 0 : text_id(); }

/* A prepared statement whose result is an id. */
struct prepared {
	MYSQL_STMT *statement;
	long long id;
	MYSQL_BIND result;
};

static void open_statement(struct prepared *p, const char *sql) {
	memset(p, 0, sizeof *p);
	p->statement = mysql_stmt_init(db);
	mysql_stmt_prepare(p->statement, sql, strlen(sql));
	p->result.buffer_type = MYSQL_TYPE_LONGLONG;
	p->result.buffer = &p->id;
	mysql_stmt_bind_result(p->statement, &p->result);
}

static void bind_name(struct prepared *p, const char *name) {
	MYSQL_BIND value = {.buffer_type = MYSQL_TYPE_STRING, .buffer = (void *)name, .buffer_length = strlen(name)};
	mysql_stmt_bind_param(p->statement, &value);
}

static long long execute(struct prepared *p) {
	p->id = 0;
	if (mysql_stmt_execute(p->statement) || mysql_stmt_fetch(p->statement)) return 0;
	mysql_stmt_free_result(p->statement);
	return p->id;
}

int main(void) {
	struct prepared p;
	long long a, b;
	client = getenv("CLIENT");
	printf("version %s %s\n", client, mysql_get_client_info());
	db = mysql_init(NULL);
	if (!mysql_real_connect(db, getenv("HOST"), getenv("USER"), getenv("PASSWORD"), getenv("DB"), atoi(getenv("PORT")), NULL,
			CLIENT_MULTI_STATEMENTS)) {
		printf("FAIL %s connect: %s\n", client, mysql_error(db));
		return 1;
	}
	a = query(), b = query();
	rising("mysql_query", a, b);

	mysql_query(db, "SELECT next_id('orders'); SELECT next_id('orders')");
	a = text_id(), mysql_next_result(db), b = text_id();
	rising("mysql_next_result", a, b);

	mysql_send_query(db, next, strlen(next));
	mysql_read_query_result(db);
	verdict("mysql_send_query", text_id() > 0, mysql_error(db));

	open_statement(&p, next);
	a = execute(&p), b = execute(&p);
	rising("prepared statement", a, b);
	mysql_stmt_close(p.statement);

	open_statement(&p, "SELECT next_id(?)");
	bind_name(&p, "orders");
	a = execute(&p), b = execute(&p);
	rising("prepared statement with a value", a, b);
	mysql_stmt_close(p.statement);

	open_statement(&p, "SELECT next_id(?)");
	bind_name(&p, "");
	mysql_stmt_send_long_data(p.statement, 0, "ord", 3);
	mysql_stmt_send_long_data(p.statement, 0, "ers", 3);
	verdict("mysql_stmt_send_long_data", execute(&p) > 0, mysql_stmt_error(p.statement));
	mysql_stmt_close(p.statement);

	/* A cursor that brings one row a fetch. */
	open_statement(&p, "SELECT id FROM next_ids('orders', 3) AS id");
	unsigned long cursor = CURSOR_TYPE_READ_ONLY, rows = 1;
	mysql_stmt_attr_set(p.statement, STMT_ATTR_CURSOR_TYPE, &cursor);
	mysql_stmt_attr_set(p.statement, STMT_ATTR_PREFETCH_ROWS, &rows);
	int fetched = 0;
	if (mysql_stmt_execute(p.statement) == 0)
		while (mysql_stmt_fetch(p.statement) == 0) fetched++;
	verdict("cursor, a row a fetch", fetched == 3, mysql_stmt_error(p.statement));
	mysql_stmt_close(p.statement);

	/* COM_STMT_BULK_EXECUTE, with statement id -1. */
	MYSQL_STMT *bulk = mysql_stmt_init(db);
	const char *names[] = {"orders", "orders", "orders"};
	unsigned long lengths[] = {6, 6, 6};
	unsigned int n = 3;
	MYSQL_BIND array = {.buffer_type = MYSQL_TYPE_STRING, .buffer = names, .length = lengths};
	mysql_stmt_prepare(bulk, "DO next_id(?)", 13);
	mysql_stmt_attr_set(bulk, STMT_ATTR_ARRAY_SIZE, &n);
	mysql_stmt_bind_param(bulk, &array);
	verdict("bulk execution", mysql_stmt_execute(bulk) == 0, mysql_stmt_error(bulk));
	mysql_stmt_close(bulk);

	MYSQL_STMT *direct = mysql_stmt_init(db);
	verdict("mariadb_stmt_execute_direct", mariadb_stmt_execute_direct(direct, next, strlen(next)) == 0, mysql_stmt_error(direct));
	mysql_stmt_close(direct);

	mysql_query(db, "DO next_id('orders')");
	verdict("mysql_insert_id", mysql_insert_id(db) > 0, mysql_error(db));
	mysql_autocommit(db, 0);
	a = query(), mysql_commit(db), b = query(), mysql_rollback(db);
	rising("mysql_autocommit, mysql_commit, mysql_rollback", a, b);
	verdict("mysql_change_user", mysql_change_user(db, getenv("USER"), getenv("PASSWORD"), getenv("DB")) == 0, mysql_error(db));
	verdict("mysql_reset_connection", mysql_reset_connection(db) == 0, mysql_error(db));
	verdict("mysql_ping, mysql_stat", mysql_ping(db) == 0 && strstr(mysql_stat(db), "Uptime") != NULL, mysql_error(db));
	verdict("error 1064", mysql_query(db, "SELEC 1") && mysql_errno(db) == 1064 && !strcmp(mysql_sqlstate(db), "42000"), mysql_error(db));
	if (strstr(getenv("CHECKS"), "meta")) {
		MYSQL_RES *fields = mysql_list_fields(db, "ids", NULL);
		verdict("meta mysql_list_fields", fields && mysql_num_fields(fields) == 2, mysql_error(db));
		mysql_free_result(fields);
		MYSQL_RES *tables = mysql_list_tables(db, "ids");
		verdict("meta mysql_list_tables", tables && mysql_num_rows(tables) == 1, mysql_error(db));
		mysql_free_result(tables);
	}
	mysql_close(db);
	return failed;
}
