#include <cstdlib>
#include <functional>
#include <iostream>
#include <pqxx/pqxx>
#include <string>
#include <utility>

using Ids = std::pair<long long, long long>;

static bool failed;

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
	std::cout << (why.empty() ? "ok" : "FAIL") << " libpqxx " << what << (why.empty() ? "" : ": " + why) << std::endl;
}

int main() {
	std::cout << "version libpqxx " << PQXX_VERSION << std::endl;
	auto env = [](const char *name) { return std::string(getenv(name)); };
	pqxx::connection c("host=" + env("HOST") + " port=" + env("PORT") + " user=" + env("USER") + " password=" + env("PASSWORD") +
	                   " dbname=" + env("DB"));
	auto one = [](const pqxx::result &r) { return r.at(0).at(0).as<long long>(); };
	const std::string next = "SELECT next_id('orders')";

	check("work", [&] {
		pqxx::work w(c);
		Ids ids{one(w.exec(next)), 0};
		ids.second = one(w.exec(next));
		w.commit();
		return ids;
	});
	check("nontransaction, exec_params", [&] {
		pqxx::nontransaction n(c);
		Ids ids{one(n.exec_params("SELECT next_id($1)", "orders")), 0};
		ids.second = one(n.exec_params("SELECT next_id($1)", "orders"));
		return ids;
	});
	check("prepare, exec_prepared", [&] {
		c.prepare("next", "SELECT next_id($1)");
		pqxx::work w(c);
		Ids ids{one(w.exec_prepared("next", "orders")), 0};
		ids.second = one(w.exec_prepared("next", "orders"));
		return ids;
	});
	check("subtransaction", [&] {
		pqxx::work w(c);
		Ids ids{one(w.exec(next)), 0};
		pqxx::subtransaction s(w, "s");
		ids.second = one(s.exec(next));
		s.commit();
		return ids;
	});
	check("pipeline", [&] {
		pqxx::work w(c);
		pqxx::pipeline p(w);
		auto a = p.insert(next), b = p.insert(next);
		p.complete();
		return Ids{one(p.retrieve(a)), one(p.retrieve(b))};
	});
	check("stateless_cursor", [&] {
		pqxx::work w(c);
		pqxx::stateless_cursor<pqxx::cursor_base::read_only, pqxx::cursor_base::owned> k(w, "SELECT * FROM next_ids('orders', 2)", "k", false);
		pqxx::result r = k.retrieve(0, 2);
		return Ids{r.at(0).at(0).as<long long>(), r.at(1).at(0).as<long long>()};
	});
	return failed;
}
