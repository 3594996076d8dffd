#include <cstdlib>
#include <functional>
#include <iostream>
#include <soci/soci.h>
#include <soci/version.h>
#include <string>
#include <utility>
#include <vector>

using Ids = std::pair<long long, long long>;

static bool failed;
static std::string client;

static void check(const char *what, const std::function<Ids()> &f) {
	std::string why;
	try {
		Ids ids = f();
		if (ids.first <= 0 || ids.second <= ids.first)
			why = "not two rising ids";
	} catch (const std::exception &e) {
		why = e.what();
	}
	failed = failed || !why.empty();
	std::cout << (why.empty() ? "ok " : "FAIL ") << client << " " << what << (why.empty() ? "" : ": " + why) << std::endl;
}

int main() {
	auto env = [](const char *name) { return std::string(getenv(name)); };
	client = env("CLIENT");
	bool mysql = env("PROTOCOL") == "mysql";
	std::cout << "version " << client << " " << SOCI_VERSION / 100000 << "." << SOCI_VERSION / 100 % 1000 << "." << SOCI_VERSION % 100 << std::endl;
	soci::session db((mysql ? "mysql://db=" : "postgresql://dbname=") + env("DB") + " host=" + env("HOST") + " port=" + env("PORT") +
	                 " user=" + env("USER") + " password='" + env("PASSWORD") + "'");
	std::string name = "orders";
	auto one = [&](const char *sql) {
		long long id = 0;
		db << sql, soci::into(id);
		return id;
	};

	check("into", [&] {
		Ids ids{one("SELECT next_id('orders')"), 0};
		ids.second = one("SELECT next_id('orders')");
		return ids;
	});
	check("prepare, use", [&] {
		long long id = 0;
		soci::statement statement = (db.prepare << "SELECT next_id(:name)", soci::use(name), soci::into(id));
		statement.execute(true);
		long long first = id;
		statement.execute(true);
		return Ids{first, id};
	});
	check("rows into a vector", [&] {
		std::vector<long long> ids(10);
		db << "SELECT id FROM id_batch WHERE name = 'orders' AND n = 2", soci::into(ids);
		return ids.size() == 2 ? Ids{ids[0], ids[1]} : Ids{};
	});
	check("rowset<row>", [&] {
		long long id = 0;
		soci::rowset<soci::row> rows = (db.prepare << "SELECT name, id FROM ids WHERE name = :name", soci::use(name));
		for (const soci::row &row : rows)
			id = row.get<long long>(1);
		return Ids{id, one("SELECT next_id('orders')")};
	});
	check("transaction", [&] {
		soci::transaction transaction(db);
		Ids ids{one("SELECT nextval('orders')"), 0};
		ids.second = one("SELECT nextval('orders')");
		transaction.commit();
		return ids;
	});
	if (!mysql)
		check("get_next_sequence_value", [&] {
			long long a = 0, b = 0;
			db.get_next_sequence_value("orders", a);
			db.get_next_sequence_value("orders", b);
			return Ids{a, b};
		});
	return failed;
}
