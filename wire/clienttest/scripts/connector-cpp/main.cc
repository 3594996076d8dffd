#include <cppconn/driver.h>
#include <cppconn/metadata.h>
#include <cppconn/prepared_statement.h>
#include <cppconn/resultset.h>
#include <cppconn/statement.h>
#include <mysql_driver.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <list>
#include <memory>
#include <string>

static bool failed;

static std::string env(const char *name) { return getenv(name) ? getenv(name) : ""; }

static void check(const std::string &what, const std::function<std::string()> &f) {
    std::string why;
    try {
        why = f();
    } catch (const std::exception &e) {
        why = e.what();
    }
    failed |= !why.empty();
    std::cout << (why.empty() ? "ok " : "FAIL ") << env("CLIENT") << " " << what << (why.empty() ? "" : ": " + why) << std::endl;
}

int main() {
    sql::Driver *driver = sql::mysql::get_driver_instance();
    std::cout << "version " << env("CLIENT") << " " << driver->getMajorVersion() << "." << driver->getMinorVersion() << "." << driver->getPatchVersion() << std::endl;
    std::unique_ptr<sql::Connection> c(driver->connect("tcp://" + env("HOST") + ":" + env("PORT"), env("USER"), env("PASSWORD")));
    c->setSchema(env("DB"));
    auto rising = [](int64_t a, int64_t b) { return a > 0 && b > a ? "" : "not two rising ids"; };
    check("statement", [&] {
        std::unique_ptr<sql::Statement> s(c->createStatement());
        int64_t ids[2];
        for (int64_t &id : ids) {
            std::unique_ptr<sql::ResultSet> r(s->executeQuery("SELECT next_id('orders') AS id"));
            r->next();
            id = r->getInt64("id");
        }
        return rising(ids[0], ids[1]);
    });
    check("prepared statement", [&] {
        std::unique_ptr<sql::PreparedStatement> s(c->prepareStatement("SELECT next_id(?)"));
        int64_t ids[2];
        for (int64_t &id : ids) {
            s->setString(1, "orders");
            std::unique_ptr<sql::ResultSet> r(s->executeQuery());
            r->next();
            id = r->getInt64(1);
        }
        return rising(ids[0], ids[1]);
    });
    check("precision of a decimal", [&] {
        std::unique_ptr<sql::PreparedStatement> s(c->prepareStatement("SELECT 1.5"));
        std::unique_ptr<sql::ResultSet> r(s->executeQuery());
        sql::ResultSetMetaData *m = r->getMetaData();
        return m->getScale(1) == 1 && m->getPrecision(1) < 5 ? std::string() : std::to_string(m->getPrecision(1)) + "," + std::to_string(m->getScale(1));
    });
    if (env("CHECKS").find("meta") != std::string::npos) {
        check("meta getTables", [&] {
            std::list<sql::SQLString> types{"TABLE", "VIEW"};
            std::unique_ptr<sql::ResultSet> r(c->getMetaData()->getTables("", env("DB"), "ids", types));
            return r->next() && r->getString("TABLE_NAME") == "ids" ? "" : "no table ids";
        });
        check("meta getColumns", [&] {
            std::unique_ptr<sql::ResultSet> r(c->getMetaData()->getColumns("", env("DB"), "ids", "%"));
            return r->next() && r->getString("COLUMN_NAME") == "name" ? "" : "no column name";
        });
    }
    return failed;
}
