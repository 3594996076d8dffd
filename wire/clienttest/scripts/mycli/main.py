import mycli

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, version

version(mycli.__version__)
from mycli.sqlexecute import SQLExecute

executor = SQLExecute(DB, USER, PASSWORD, HOST, PORT, None, "utf8mb4", False, None, None, None, None, None, None)


def run(sql):
    for _, rows, _, _ in executor.run(sql):
        return [tuple(row) for row in rows] if rows is not None else []


check("query, twice", lambda: (int(run("SELECT next_id('orders')")[0][0]), int(run("SELECT next_id('orders')")[0][0])))
check("transaction", lambda: [run("BEGIN"), run("SELECT next_id('orders')"), run("COMMIT")] and True)
if META:
    check("meta completion: databases", lambda: DB in executor.databases())
    check("meta completion: tables", lambda: ("ids",) in list(executor.tables()))
    check("meta completion: columns", lambda: len([c for c in executor.table_columns() if c[0] == "ids"]) == 2)
    check("meta completion: functions", lambda: "next_id" in [f[0] for f in executor.functions()])
    for command in ("\\l", "\\dt", "\\dt ids", "\\dt+ ids"):
        check("meta " + command, lambda: run(command) is not None)
done()
