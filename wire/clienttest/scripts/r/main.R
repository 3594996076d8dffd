# RPostgreSQL.
suppressMessages(library(DBI))
client <- Sys.getenv("CLIENT")
failed <- FALSE
cat("version", client, as.character(packageVersion("RPostgreSQL")), "\n")

check <- function(what, f) {
  why <- tryCatch(if (isTRUE(f())) "" else "false", error = function(e) conditionMessage(e))
  if (why == "") {
    cat("ok", client, what, "\n")
  } else {
    cat("FAIL", client, paste0(what, ":"), gsub("\\s+", " ", why), "\n")
    failed <<- TRUE
  }
}

c <- dbConnect(RPostgreSQL::PostgreSQL(),
  host = Sys.getenv("HOST"), port = as.integer(Sys.getenv("PORT")),
  dbname = Sys.getenv("DB"), user = Sys.getenv("USER"), password = Sys.getenv("PASSWORD")
)
id <- function(sql, ...) dbGetQuery(c, sql, ...)[[1]][1] # a double: ids of one millisecond may look alike
rising <- function(sql, ...) {
  a <- id(sql, ...)
  Sys.sleep(0.002)
  0 < a && a < id(sql, ...)
}

check("dbGetQuery", function() rising("SELECT next_id('orders')"))
check("bound parameter", function() rising("SELECT next_id($1)", "orders"))
check("as text", function() grepl("^[0-9]+$", id("SELECT next_id('orders')::text")))
check("next_ids", function() nrow(dbGetQuery(c, "SELECT * FROM next_ids('orders', 3)")) == 3)
check("dbSendQuery, fetch", function() {
  r <- dbSendQuery(c, "SELECT * FROM next_ids('orders', 3)")
  rows <- nrow(fetch(r, 2)) + nrow(fetch(r, -1))
  dbClearResult(r)
  rows == 3
})
check("transaction", function() {
  dbGetQuery(c, "BEGIN TRANSACTION")
  ok <- rising("SELECT next_id('orders')")
  dbCommit(c)
  ok
})
if ("meta" %in% strsplit(Sys.getenv("CHECKS"), ",")[[1]]) {
  check("meta dbListTables", function() is.character(dbListTables(c))) # no views
  check("meta dbExistsTable", function() !dbExistsTable(c, "no_such_table"))
  check("meta dbColumnInfo", function() {
    r <- dbSendQuery(c, "SELECT name, id FROM ids WHERE name = 'orders'")
    columns <- dbColumnInfo(r)
    dbClearResult(r)
    identical(columns$name, base::c("name", "id")) && identical(as.character(columns$type), base::c("TEXT", "BIGINT"))
  })
}
invisible(dbDisconnect(c))
quit(status = if (failed) 1 else 0)
