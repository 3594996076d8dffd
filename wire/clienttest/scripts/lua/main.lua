-- LuaSQL over libpq and libmariadb.
local mysql = os.getenv("PROTOCOL") == "mysql"
local luasql = require(mysql and "luasql.mysql" or "luasql.postgres")
local client = os.getenv("CLIENT")
local failed = false
print("version " .. client .. " " .. luasql._VERSION:match("[%d.]+"))

local environment = mysql and luasql.mysql() or luasql.postgres()
local c = assert(environment:connect(os.getenv("DB"), os.getenv("USER"), os.getenv("PASSWORD"), os.getenv("HOST"), tonumber(os.getenv("PORT"))))

local function one(sql)
  local cursor = assert(c:execute(sql))
  local id = math.tointeger(tonumber(cursor:fetch()))
  cursor:close()
  return id
end

local function check(what, f)
  local done, a, b = pcall(f)
  if done and a and (a == true or 0 < a and a < b) then
    print("ok " .. client .. " " .. what)
  else
    failed = true
    print("FAIL " .. client .. " " .. what .. ": " .. tostring(a):gsub("%s+", " "))
  end
end

check("execute", function() return one("SELECT next_id('orders')"), one("SELECT next_id('orders')") end)
check("escaped name", function()
  local sql = "SELECT next_id('" .. c:escape("orders") .. "')"
  return one(sql), one(sql)
end)
check("setautocommit, commit, rollback", function()
  c:setautocommit(false)
  local a, b = one("SELECT next_id('orders')"), one("SELECT next_id('orders')")
  c:commit()
  c:rollback()
  c:setautocommit(true)
  return a, b
end)
check("column types", function()
  local cursor = assert(c:execute("SELECT name, id FROM ids WHERE name = 'orders'"))
  local types = table.concat(cursor:getcoltypes(), " ")
  cursor:close()
  return types == (mysql and "string(1020) number(20)" or "text int8") or error(types)
end)
c:close()
os.exit(not failed)
