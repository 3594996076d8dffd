require "mysql2"
require "verdict"

Verdict.version Mysql2::VERSION
server = { host: Verdict::HOST, port: Verdict::PORT.to_i, username: Verdict::USER, password: Verdict::PASSWORD, database: Verdict::DB }
c = Mysql2::Client.new(**server, connect_timeout: 10)
id = ->(result) { result.first.values.first }

Verdict.check("query") { Array.new(2) { id.(c.query("SELECT next_id('orders') AS id")) } }
Verdict.check("escape") { Array.new(2) { id.(c.query("SELECT next_id('#{c.escape("orders")}')")) } }
Verdict.check("prepare, execute") do
  statement = c.prepare("SELECT next_id(?) AS id")
  Array.new(2) { id.(statement.execute("orders")) }
end
Verdict.check("a column without an alias") { c.query("SELECT next_id('orders')").fields == ["next_id('orders')"] }
Verdict.check("BEGIN, SAVEPOINT, COMMIT") do
  c.query("BEGIN")
  first = id.(c.query("SELECT next_id('orders')"))
  c.query("SAVEPOINT s")
  second = id.(c.query("SELECT next_id('orders')"))
  c.query("RELEASE SAVEPOINT s")
  c.query("COMMIT")
  [first, second]
end
Verdict.check("stream, row by row") do
  rows = 0
  c.query("SELECT id FROM next_ids('orders', 3) AS id", stream: true, cache_rows: false).each { rows += 1 }
  rows == 3
end
Verdict.check("last_id of DO") do
  c.query("DO next_id('orders')")
  c.last_id.positive?
end
Verdict.check("MULTI_STATEMENTS") do
  other = Mysql2::Client.new(**server, flags: Mysql2::Client::MULTI_STATEMENTS)
  first = id.(other.query("SELECT next_id('orders'); SELECT next_id('orders')"))
  other.next_result
  second = id.(other.store_result)
  other.close
  [first, second]
end
Verdict.check("async") do
  c.query("SELECT next_id('orders')", async: true)
  id.(c.async_result).positive?
end
Verdict.check("ping, select_db, server_info") { c.ping && c.select_db(Verdict::DB) && c.server_info[:version].include?("nextid") }
Verdict.check("error 1064") do
  c.query("SELEC 1")
  false
rescue Mysql2::Error => e
  e.error_number == 1064 && e.sql_state == "42000"
end
c.close
Verdict.done
