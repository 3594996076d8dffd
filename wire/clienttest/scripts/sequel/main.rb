require "sequel"
require "verdict"

Verdict.version Sequel.version
db = Sequel.connect(Verdict::URL)

Verdict.check("get of a function") { Array.new(2) { db.get(Sequel.function(:next_id, "orders")) } }
Verdict.check("fetch with a placeholder") { Array.new(2) { db["SELECT next_id(?) AS id", "orders"].get(:id) } }
Verdict.check("the table ids") { Array.new(2) { db[:ids].where(name: "orders").get(:id) } }
Verdict.check("prepared statement") do
  statement = db["SELECT next_id(?) AS id", :$name].prepare(:first, :next)
  Array.new(2) { statement.call(name: "orders")[:id] }
end
Verdict.check("transaction, savepoint") do
  db.transaction do
    first = db.get(Sequel.function(:next_id, "orders"))
    db.transaction(savepoint: true) { [first, db.get(Sequel.function(:next_id, "orders"))] }
  end
end
if Verdict::MYSQL
  Verdict.check("stream") { db["SELECT id FROM next_ids('orders', 3) AS id"].stream.map(:id).size == 3 }
else
  Verdict.check("use_cursor") { db.from(Sequel.function(:next_ids, "orders", 3)).use_cursor.all.size == 3 }
end
if Verdict::META
  Verdict.check("meta views, tables") { db.views.include?(:ids) && db.tables.is_a?(Array) }
  Verdict.check("meta schema") { db.schema(:ids).map(&:first) == %i[name id] }
  Verdict.check("meta indexes, foreign keys") { db.indexes(:ids).empty? && db.foreign_key_list(:ids).empty? }
  Verdict.check("meta model") { Class.new(Sequel::Model(db[:ids])).columns == %i[name id] }
end
db.disconnect
Verdict.done
