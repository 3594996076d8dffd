require "active_record"
require "verdict"

Verdict.version ActiveRecord.version
ActiveRecord::Base.establish_connection(Verdict::MYSQL ? "#{Verdict::URL}?prepared_statements=true" : Verdict::URL)

class Ids < ActiveRecord::Base
  self.table_name = "ids"
  self.primary_key = "name"
end

def connection
  ActiveRecord::Base.connection
end

def two(sql, *binds)
  Array.new(2) { connection.select_value(ActiveRecord::Base.sanitize_sql([sql, *binds])) }
end

Verdict.check("select_value") { two("SELECT next_id('orders')") }
Verdict.check("bound value") { two("SELECT next_id(?)", "orders") }
Verdict.check("prepared statement with a bind") do
  bind = ActiveRecord::Relation::QueryAttribute.new("name", "orders", ActiveRecord::Type::String.new)
  Array.new(2) { connection.select_value("SELECT next_id(#{Verdict::MYSQL ? "?" : "$1"})", "next", [bind]) }
end
Verdict.check("next_sequence_value") { two("SELECT nextval('orders')") }
Verdict.check("transaction, nested") do
  ActiveRecord::Base.transaction do
    first = two("SELECT next_id('orders')")[0]
    ActiveRecord::Base.transaction(requires_new: true) { [first, two("SELECT next_id('orders')")[1]] }
  end
end
Verdict.check("isolation level") do
  ActiveRecord::Base.transaction(isolation: :serializable) { two("SELECT next_id('orders')") }
end
Verdict.check("active?, reconnect!") do
  connection.reconnect!
  connection.active?
end
Verdict.check("StatementInvalid") do
  connection.execute("SELECT no_such_function(1)")
  false
rescue ActiveRecord::StatementInvalid => e
  e.cause.is_a?(Verdict::MYSQL ? Mysql2::Error : PG::UndefinedFunction)
end
if Verdict::META
  Verdict.check("meta model over the table ids") { [Ids.find("orders").id_before_type_cast, Ids.find_by(name: "orders").id_before_type_cast] && true }
  Verdict.check("meta columns") do
    Ids.columns.map { |c| [c.name, c.sql_type] } ==
      (Verdict::MYSQL ? [["name", "varchar(255)"], ["id", "bigint(20)"]] : [%w[name text], %w[id bigint]])
  end
  Verdict.check("meta tables, views, indexes") { connection.data_sources.include?("ids") && connection.indexes("ids").empty? }
  Verdict.check("meta primary_key, foreign_keys") { connection.primary_key("ids").nil? && connection.foreign_keys("ids").empty? }
  if Verdict::MYSQL
    Verdict.check("meta charset, collation, version") { connection.charset == "utf8mb4" && connection.collation && connection.mariadb? }
  else
    Verdict.check("meta extensions, schema_names") { connection.extensions && connection.schema_names.include?("public") }
  end
end
Verdict.done
