/* Hostile values through mysql_real_escape_string; see main.py. The first
 * argument is the character set to connect with. */
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MYSQL *db;

/* The first field of a query's only row; NULL on an error. */
static MYSQL_RES *ask(const char *before, const char *value, unsigned long *length, MYSQL_ROW *row) {
	char escaped[512], sql[1024];
	mysql_real_escape_string(db, escaped, value, strlen(value));
	snprintf(sql, sizeof sql, "%s'%s'", before, escaped);
	if (mysql_query(db, sql)) return NULL;
	MYSQL_RES *result = mysql_store_result(db);
	if (!result || !(*row = mysql_fetch_row(result)) || !(*row)[0]) return NULL;
	*length = mysql_fetch_lengths(result)[0];
	return result;
}

/* Decodes %XX in place. */
static void decode(char *s) {
	char *to = s;
	for (; *s && *s != '\n'; s++) {
		unsigned c = (unsigned char)*s;
		if (c == '%') {
			sscanf(s + 1, "%2x", &c);
			s += 2;
		}
		*to++ = (char)c;
	}
	*to = 0;
}

int main(int argc, char **argv) {
	char setting[256], value[256];
	db = mysql_init(NULL);
	mysql_options(db, MYSQL_SET_CHARSET_NAME, argc > 1 ? argv[1] : "utf8mb4");
	if (!mysql_real_connect(db, getenv("HOST"), getenv("USER"), getenv("PASSWORD"), NULL, atoi(getenv("PORT")), NULL, 0)) {
		fprintf(stderr, "%s\n", mysql_error(db));
		return 1;
	}
	FILE *settings = fopen("settings-mysql", "r"), *values = fopen("values", "r");
	for (int i = 0; fgets(setting, sizeof setting, settings); i++) {
		setting[strcspn(setting, "\n")] = 0;
		if (strstr(setting, "NAMES") && argc > 1) continue; /* the client would not know of it */
		if (mysql_query(db, setting)) {
			printf("%d refused: %s\n", i, setting);
			continue;
		}
		mysql_free_result(mysql_store_result(db));
		rewind(values);
		for (int j = 0; fgets(value, sizeof value, values); j++) {
			unsigned long length, n;
			MYSQL_ROW row, count;
			decode(value);
			MYSQL_RES *echo = ask("SELECT ", value, &length, &row);
			MYSQL_RES *rows = echo ? ask("SELECT count(*) FROM (SELECT 'a' AS name UNION SELECT 'b' UNION SELECT 'plain') AS t "
				"WHERE name = ", value, &n, &count) : NULL;
			if (!rows) {
				printf("%d %d error\n", i, j);
				mysql_free_result(echo);
				continue;
			}
			printf("%d %d ", i, j);
			for (unsigned long k = 0; k < length; k++) printf("%02x", (unsigned char)row[0][k]);
			printf(" %s\n", count[0]);
			mysql_free_result(echo);
			mysql_free_result(rows);
		}
	}
	mysql_close(db);
	return 0;
}
