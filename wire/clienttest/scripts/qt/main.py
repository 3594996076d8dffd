from PyQt5.QtCore import PYQT_VERSION_STR, QCoreApplication
from PyQt5.QtSql import QSql, QSqlDatabase, QSqlQuery, QSqlTableModel

from verdict import DB, HOST, META, MYSQL, PASSWORD, PORT, USER, check, done, version

version(PYQT_VERSION_STR)
app = QCoreApplication([])
db = QSqlDatabase.addDatabase("QMYSQL" if MYSQL else "QPSQL")
db.setHostName(HOST)
db.setPort(PORT)
db.setUserName(USER)
db.setPassword(PASSWORD)
db.setDatabaseName(DB)
check("open", lambda: db.open() or db.lastError().text())


def first(query, done):
    if not (done and query.next()):
        raise Exception(query.lastError().text())
    return query.value(0)


def two(sql):
    query = QSqlQuery(db)
    return tuple(first(query, query.exec(sql)) for _ in range(2))


check("exec", lambda: two("SELECT next_id('orders')"))


@check("prepare, bindValue")
def _():
    query = QSqlQuery(db)
    query.prepare("SELECT next_id(:name)")
    query.bindValue(":name", "orders")
    return tuple(first(query, query.exec()) for _ in range(2))


@check("transaction")
def _():
    began = db.transaction()
    ids = two("SELECT nextval('orders')")
    return ids if began and db.commit() else False


@check("forward only")
def _():
    query = QSqlQuery(db)
    query.setForwardOnly(True)
    return query.exec("SELECT id FROM id_batch WHERE name = 'orders' AND n = 5") and sum(1 for _ in iter(query.next, False)) == 5


@check("syntax error")
def _():
    query = QSqlQuery(db)
    return not query.exec("SELEC 1") and query.lastError().nativeErrorCode() == ("1064" if MYSQL else "42601")


if META:
    check("meta tables", lambda: "ids" in db.tables(QSql.AllTables))
    check("meta record", lambda: [db.record("ids").fieldName(i) for i in range(2)] == ["name", "id"])

    @check("meta QSqlTableModel")
    def _():
        model = QSqlTableModel(None, db)
        model.setTable("ids")
        model.setFilter("name = 'orders'")
        return model.select() and model.rowCount() == 1

    @check("meta lengths of texts")
    def _():
        query = QSqlQuery(db)
        query.exec("SELECT 'abc', concat('a', 'bc')")
        return [query.record().field(i).length() for i in range(2)] == ([12, 12] if MYSQL else [-1, -1])


db.close()
done()
