require "pg"
require "verdict"

Verdict.version PG::VERSION
server = { host: Verdict::HOST, port: Verdict::PORT, user: Verdict::USER, password: Verdict::PASSWORD, dbname: Verdict::DB }
c = PG.connect(**server, connect_timeout: 10)
c.type_map_for_results = PG::BasicTypeMapForResults.new(c)
ids = ->(*query) { Array.new(2) { c.exec_params(*query).getvalue(0, 0) } }

Verdict.check("exec") { Array.new(2) { c.exec("SELECT next_id('orders')").getvalue(0, 0) } }
Verdict.check("exec_params") { ids.("SELECT next_id($1)", ["orders"]) }
Verdict.check("exec_params, binary result") { c.exec_params("SELECT next_id($1)", ["orders"], 1).getvalue(0, 0).positive? }
Verdict.check("prepare, exec_prepared") do
  c.prepare("next", "SELECT next_id($1)")
  Array.new(2) { c.exec_prepared("next", ["orders"]).getvalue(0, 0) }
end
Verdict.check("describe_prepared") { c.describe_prepared("next").ftype(0) == 20 }
Verdict.check("nextval($1)") { ids.("SELECT nextval($1)", ["orders"]) }
Verdict.check("transaction") { c.transaction { ids.("SELECT next_id($1)", ["orders"]) } }
Verdict.check("pipeline mode") do
  c.enter_pipeline_mode
  2.times { c.send_query_params("SELECT next_id($1)", ["orders"]) }
  c.pipeline_sync
  got = Array.new(2) do
    result = c.get_result
    c.get_result
    result.getvalue(0, 0)
  end
  c.get_result
  c.exit_pipeline_mode
  got
end
Verdict.check("send_query, single row mode") do
  c.send_query("SELECT next_ids('orders', 3)")
  c.set_single_row_mode
  rows = 0
  while (result = c.get_result)
    rows += result.ntuples
  end
  rows == 3
end
Verdict.check("copy_data") do
  c.copy_data("COPY (SELECT next_id('orders')) TO STDOUT") do
    n = 0
    n += 1 while c.get_copy_data
    n == 1
  end
end
Verdict.check("UndefinedFunction") do
  c.exec("SELECT no_such_function(1)")
  false
rescue PG::UndefinedFunction
  true
end
Verdict.check("reset") do
  c.reset
  c.exec("SELECT 1").ntuples == 1
end
Verdict.check("meta BasicTypeMapForQueries asks for the types") { PG::BasicTypeMapForQueries.new(c) } if Verdict::META
c.close
Verdict.done
