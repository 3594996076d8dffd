# tdbc::postgres and tdbc::mysql.
set mysql [expr {$env(PROTOCOL) eq "mysql"}]
set driver tdbc::[expr {$mysql ? "mysql" : "postgres"}]
package require $driver
set client $env(CLIENT)
set failed 0
puts "version $client [package present $driver]"

proc check {what script} {
    global client failed
    if {[catch {uplevel #0 $script} got]} {
        set why [string map {\n " "} $got]
    } elseif {[llength $got] == 2 && 0 < [lindex $got 0] && [lindex $got 0] < [lindex $got 1]} {
        set why ""
    } else {
        set why "not two rising ids: $got"
    }
    if {$why eq ""} {
        puts "ok $client $what"
    } else {
        puts "FAIL $client $what: $why"
        set failed 1
    }
}

${driver}::connection create db -host $env(HOST) -port $env(PORT) -user $env(USER) -password $env(PASSWORD) -database $env(DB)
set name orders
proc one {sql} { return [lindex [db allrows -as lists $sql {name orders}] 0 0] }
proc two {sql} { return [list [one $sql] [one $sql]] }

check "allrows" { two "SELECT next_id('orders')" }
check "bound variable" { two "SELECT next_id(:name)" }
check "nextval" { two "SELECT nextval(:name)" }
check "prepared statement" {
    set statement [db prepare "SELECT next_id(:name) AS id"]
    set ids {}
    foreach _ {1 2} { $statement foreach row { lappend ids [dict get $row id] } }
    $statement close
    set ids
}
check "transaction" {
    db transaction { set ids [two "SELECT next_id('orders')"] }
    set ids
}
if {[lsearch [split $env(CHECKS) ,] meta] >= 0} {
    check "meta columns" { list 1 [llength [dict keys [db columns ids]]] }
    if {$mysql} { check "meta tables, configure" { list [dict exists [db tables] ids] [llength [db configure]] } }
}
db close
exit $failed
