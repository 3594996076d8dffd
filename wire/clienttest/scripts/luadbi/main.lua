-- LuaDBI. It cuts a bigint of PostgreSQL to 32 bits and makes a double of
-- MySQL's: ids come as texts.
local DBI = require("DBI")
local mysql = os.getenv("PROTOCOL") == "mysql"
local client = os.getenv("CLIENT")
local failed = false
print("version " .. client .. " " .. DBI._VERSION:match("[%d.]+"))

local db = assert(DBI.Connect(mysql and "MySQL" or "PostgreSQL", os.getenv("DB"), os.getenv("USER"), os.getenv("PASSWORD"), os.getenv("HOST"), tonumber(os.getenv("PORT"))))
db:autocommit(true)
local next_id = mysql and "SELECT CAST(next_id(?) AS CHAR)" or "SELECT next_id($1)::text"

local function check(what, f)
  local done, a, b = pcall(f)
  if done and a and (a == true or 0 < a and a < b) then
    print("ok " .. client .. " " .. what)
  else
    failed = true
    print("FAIL " .. client .. " " .. what .. ": " .. tostring(a):gsub("%s+", " "))
  end
end

local function two()
  local ids = {}
  local statement = assert(db:prepare(next_id))
  for i = 1, 2 do
    assert(statement:execute("orders"))
    ids[i] = math.tointeger(tonumber(statement:fetch()[1]))
  end
  statement:close()
  return ids[1], ids[2]
end

check("prepare, execute", two)
check("autocommit, commit, rollback", function()
  db:autocommit(false)
  local a, b = two()
  assert(db:commit() and db:rollback())
  db:autocommit(true)
  return a, b
end)
check("ping", function() return db:ping() end)
check("syntax error", function() return db:prepare("SELEC 1") == nil end)
db:close()
os.exit(not failed)
