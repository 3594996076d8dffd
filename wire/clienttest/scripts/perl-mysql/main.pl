# DBD::mysql.
use strict;
use warnings;
use DBI;
use Verdict;

print "version $ENV{CLIENT} $DBD::mysql::VERSION\n" if require DBD::mysql;

my $dsn = "dbi:mysql:host=$ENV{HOST};port=$ENV{PORT};database=$ENV{DB}";
my $db = DBI->connect($dsn, $ENV{USER}, $ENV{PASSWORD}, { RaiseError => 1, PrintError => 0, mysql_enable_utf8mb4 => 1 });
my $sql = 'SELECT next_id(?)';
sub one { return ($db->selectrow_array(@_))[0] }
sub two { return (one(@_), one(@_)) }

check('selectrow_array', sub { two("SELECT next_id('orders')") });
check('placeholder, put in by the client', sub { two($sql, undef, 'orders') });
check('mysql_server_prepare', sub { two($sql, { mysql_server_prepare => 1 }, 'orders') });
check('prepare, execute', sub {
    my $s = $db->prepare($sql);
    return map { $s->execute('orders'); ($s->fetchrow_array)[0] } 1, 2;
});
check('mysql_use_result', sub {
    my $s = $db->prepare("SELECT id FROM next_ids('orders', 3) AS id", { mysql_use_result => 1 });
    $s->execute;
    return @{ $s->fetchall_arrayref } == 3;
});
check('transaction, savepoint', sub {
    $db->begin_work;
    my $first = one($sql, undef, 'orders');
    $db->do('SAVEPOINT s');
    my $second = one($sql, undef, 'orders');
    $db->do('RELEASE SAVEPOINT s');
    $db->commit;
    return ($first, $second);
});
check('rollback', sub { $db->begin_work; one("SELECT next_id('orders')"); $db->rollback });
check('last_insert_id, mysql_insertid', sub {
    $db->do("DO next_id('orders')");
    return $db->{mysql_insertid} > 0 && $db->last_insert_id(undef, undef, undef, undef) == $db->{mysql_insertid};
});
check('ping', sub { $db->ping });
check('mysql_multi_statements, more_results', sub {
    my $other = DBI->connect("$dsn;mysql_multi_statements=1", $ENV{USER}, $ENV{PASSWORD}, { RaiseError => 1, PrintError => 0 });
    my $s = $other->prepare("SELECT next_id('orders'); SELECT next_id('orders')");
    $s->execute;
    my $first = ($s->fetchrow_array)[0];
    $s->more_results;
    return ($first, ($s->fetchrow_array)[0]);
});
check('async', sub {
    my $s = $db->prepare("SELECT next_id('orders')", { async => 1 });
    $s->execute;
    return ($s->fetchrow_array)[0] > 0;
});
check('error 1064', sub { eval { $db->do('SELEC 1') }; $db->err == 1064 && $db->state eq '42000' });
if (meta()) {
    check('meta table_info', sub { scalar @{ $db->table_info(undef, undef, 'ids', '')->fetchall_arrayref } });
    check('meta column_info', sub { @{ $db->column_info(undef, undef, 'ids', '%')->fetchall_arrayref } == 2 });
    check('meta primary_key_info', sub { !defined $db->primary_key_info(undef, undef, 'ids') || 1 });
    check('meta statistics_info', sub { !defined $db->statistics_info(undef, undef, 'ids', 0, 0) || 1 });
    check('meta tables', sub { grep { /`ids`$/ } $db->tables(undef, undef, '', '') });
    check('meta type_info_all', sub { scalar @{ $db->type_info_all } });
}
$db->disconnect;
exit $Verdict::failed;
