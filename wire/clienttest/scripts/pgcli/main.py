import pgcli

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, version

version(pgcli.__version__)
from pgcli.pgexecute import PGExecute
from pgspecial.main import PGSpecial

executor = PGExecute(DB, USER, PASSWORD, HOST, str(PORT), None)


def run(sql):
    for title, rows, headers, status, _, success, _ in executor.run(sql, PGSpecial()):
        if not success:
            raise ValueError(status)
        return [tuple(row) for row in rows] if rows is not None else []


check("query, twice", lambda: (int(run("SELECT next_id('orders')")[0][0]), int(run("SELECT next_id('orders')")[0][0])))
check("transaction", lambda: [run("BEGIN"), run("SELECT next_id('orders')"), run("COMMIT")] and True)
if META:
    check("meta completion: tables", lambda: str(len(list(executor.tables()))))
    check("meta completion: views", lambda: ("public", "ids") in list(executor.views()))
    check("meta completion: columns", lambda: len([c for c in executor.view_columns() if c[1] == "ids"]) == 2)
    check("meta completion: functions", lambda: "next_id" in [f.func_name for f in executor.functions()])
    check("meta completion: types", lambda: str(len(list(executor.datatypes()))))
    check("meta completion: databases", lambda: DB in executor.databases())
    check("meta completion: schemas", lambda: "public" in executor.schemata())
    check("meta completion: foreign keys", lambda: list(executor.foreignkeys()) == [])
    check("meta search_path", lambda: "public" in executor.search_path())
    for command in ("\\l", "\\dt", "\\dv", "\\d ids", "\\df next_id", "\\dn", "\\du", "\\dT", "\\di", "\\ds", "\\dx", "\\sf next_id"):
        check("meta " + command, lambda: run(command) is not None)
done()
