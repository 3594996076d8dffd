require "do_mysql"
require "do_postgres"
require "verdict"

Verdict.version DataObjects::VERSION
uri = Verdict::URL.sub("mysql2:", "mysql:")
db = DataObjects::Connection.new(uri)

def two(db, sql, *args)
  Array.new(2) do
    reader = db.create_command(sql).execute_reader(*args)
    reader.next!
    reader.values.first.tap { reader.close }
  end
end

Verdict.check("execute_reader") { two(db, "SELECT next_id('orders')") }
Verdict.check("placeholder") { two(db, "SELECT next_id(?)", "orders") }
Verdict.check("transaction") do
  transaction = DataObjects::Transaction.create_for_uri(uri)
  transaction.begin
  two(transaction.connection, "SELECT nextval('orders')").tap { transaction.commit }
end
Verdict.check("syntax error") do
  db.create_command("SELEC 1").execute_reader
  false
rescue DataObjects::SQLError, DataObjects::SyntaxError => e
  %w[42000 42601].include?(e.sqlstate)
end
db.dispose
Verdict.done
