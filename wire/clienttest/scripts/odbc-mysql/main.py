import subprocess

import pyodbc

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, version

target = "Driver={MariaDB Unicode};Server=%s;Port=%d;Database=%s;UID=%s;PWD=%s" % (HOST, PORT, DB, USER, PASSWORD)
c = pyodbc.connect(target)
version(c.getinfo(pyodbc.SQL_DRIVER_VER).lstrip("0"))


def one(sql, *args, on=c):
    return on.execute(sql, *args).fetchval()


def two(sql, *args, on=c):
    return one(sql, *args, on=on), one(sql, *args, on=on)


check("plain, autocommit off", lambda: two("SELECT next_id('orders')"))
check("commit", c.commit)
check("bound parameter", lambda: two("SELECT next_id(?)", "orders"))
check("NEXTVAL()", lambda: two("SELECT NEXTVAL(orders)"))
check("rollback", c.rollback)
c.autocommit = True
check("autocommit", lambda: two("SELECT next_id(?)", "orders"))
check("next_ids(?,?)", lambda: len(c.execute("SELECT id FROM next_ids(?,?) AS id", "orders", 3).fetchall()) == 3)
check("executemany", lambda: c.cursor().executemany("DO next_id(?)", [("orders",)] * 3))
for option in ("FORWARDONLY=1", "NO_CACHE=1", "OPTION=67108864", "CHARSET=utf8mb4", "NO_SSPS=1"):
    check(option, lambda: two("SELECT next_id(?)", "orders", on=pyodbc.connect(target + ";" + option)))


@check("SQLSTATE")
def _():
    try:
        c.execute("SELEC 1")
    except pyodbc.Error as e:
        return e.args[0] == "42000"
    return False


@check("isql")
def _():
    out = subprocess.run(["isql", "-b", "-k", target], input="SELECT next_id('orders')\n", capture_output=True, text=True)
    return any(line.strip("| ").isdigit() for line in out.stdout.splitlines()) or out.stdout + out.stderr


if META:
    cursor = c.cursor()
    check("meta SQLTables", lambda: "ids" in [row.table_name for row in cursor.tables(tableType="VIEW")])
    check("meta SQLColumns", lambda: [row.column_name for row in cursor.columns(table="ids")] == ["name", "id"])
    check("meta SQLPrimaryKeys", lambda: cursor.primaryKeys(table="ids").fetchall() == [])
    check("meta SQLForeignKeys", lambda: cursor.foreignKeys(table="ids").fetchall() == [])
    check("meta SQLStatistics", lambda: cursor.statistics(table="ids").fetchall() is not None)
    check("meta SQLSpecialColumns", lambda: cursor.rowIdColumns(table="ids").fetchall() is not None)
    check("meta SQLProcedures", lambda: cursor.procedures("next_id").fetchall() is not None)
    check("meta SQLProcedureColumns", lambda: cursor.procedureColumns("next_id").fetchall() is not None)
    check("meta SQLGetTypeInfo", lambda: len(cursor.getTypeInfo().fetchall()) > 5)

c.close()
done()
