# RMySQL.
suppressMessages(library(DBI))
client <- Sys.getenv("CLIENT")
failed <- FALSE
cat("version", client, as.character(packageVersion("RMySQL")), "\n")

check <- function(what, f) {
  why <- tryCatch(if (isTRUE(f())) "" else "false", error = function(e) conditionMessage(e))
  if (why == "") {
    cat("ok", client, what, "\n")
  } else {
    cat("FAIL", client, paste0(what, ":"), gsub("\\s+", " ", why), "\n")
    failed <<- TRUE
  }
}

c <- dbConnect(RMySQL::MySQL(),
  host = Sys.getenv("HOST"), port = as.integer(Sys.getenv("PORT")),
  dbname = Sys.getenv("DB"), user = Sys.getenv("USER"), password = Sys.getenv("PASSWORD")
)
id <- function(sql) dbGetQuery(c, sql)[[1]][1] # a double: ids of one millisecond may look alike
rising <- function(sql) {
  a <- id(sql)
  Sys.sleep(0.002)
  0 < a && a < id(sql)
}

check("dbGetQuery", function() rising("SELECT next_id('orders')"))
check("as text", function() grepl("^[0-9]+$", id("SELECT CAST(next_id('orders') AS CHAR)")))
check("next_ids", function() nrow(dbGetQuery(c, "SELECT id FROM next_ids('orders', 3) AS id")) == 3)
check("dbSendQuery, fetch", function() {
  r <- dbSendQuery(c, "SELECT id FROM next_ids('orders', 3) AS id")
  rows <- nrow(dbFetch(r, 2)) + nrow(dbFetch(r, -1))
  dbClearResult(r)
  rows == 3
})
check("transaction", function() {
  dbBegin(c)
  ok <- rising("SELECT next_id('orders')")
  dbCommit(c)
  ok
})
if ("meta" %in% strsplit(Sys.getenv("CHECKS"), ",")[[1]]) {
  check("meta dbListTables", function() "ids" %in% dbListTables(c))
  check("meta dbExistsTable", function() !dbExistsTable(c, "no_such_table"))
  check("meta dbListFields", function() identical(dbListFields(c, "ids"), base::c("name", "id")))
}
invisible(dbDisconnect(c))
quit(status = if (failed) 1 else 0)
