# DBD::Pg.
use strict;
use warnings;
use DBI;
use Verdict;

print "version $ENV{CLIENT} $DBD::Pg::VERSION\n" if require DBD::Pg;

my $dsn = "dbi:Pg:host=$ENV{HOST};port=$ENV{PORT};dbname=$ENV{DB}";
my $db = DBI->connect($dsn, $ENV{USER}, $ENV{PASSWORD}, { RaiseError => 1, PrintError => 0 });
my $sql = 'SELECT next_id(?)';
sub one { return ($db->selectrow_array(@_))[0] }
sub two { return (one(@_), one(@_)) }

check('selectrow_array', sub { two("SELECT next_id('orders')") });
check('placeholder', sub { two($sql, undef, 'orders') });
check('$1', sub { two('SELECT next_id($1)', undef, 'orders') });
check('nextval(?)', sub { two('SELECT nextval(?)', undef, 'orders') });
check('prepare, execute', sub {
    my $s = $db->prepare($sql);
    return map { $s->execute('orders'); ($s->fetchrow_array)[0] } 1, 2;
});
check('pg_server_prepare off', sub { two($sql, { pg_server_prepare => 0 }, 'orders') });
check('next_ids', sub { @{ $db->selectcol_arrayref('SELECT * FROM next_ids(?, ?)', undef, 'orders', 3) } == 3 });
check('transaction, savepoint', sub {
    $db->begin_work;
    my $first = one($sql, undef, 'orders');
    $db->pg_savepoint('s');
    my $second = one($sql, undef, 'orders');
    $db->pg_release('s');
    $db->commit;
    return ($first, $second);
});
check('last_insert_id of a sequence: currval', sub {
    my $id = one("SELECT nextval('orders')");
    return $db->last_insert_id(undef, undef, undef, undef, { sequence => 'orders' }) == $id;
});
check('ping', sub { $db->ping > 0 });
check('asynchronous query', sub {
    require DBD::Pg;
    my $s = $db->prepare("SELECT next_id('orders')", { pg_async => DBD::Pg::PG_ASYNC() });
    $s->execute;
    $s->pg_result;
    return ($s->fetchrow_array)[0] > 0;
});
check('COPY TO STDOUT', sub {
    $db->do("COPY (SELECT next_id('orders')) TO STDOUT");
    my ($row, $n) = ('', 0);
    $n++ while $db->pg_getcopydata($row) >= 0;
    return $n == 1;
});
check('SQLSTATE', sub { eval { $db->do('SELECT no_such_function(1)') }; $db->state eq '42883' });
if (meta()) {
    check('meta table_info', sub { scalar @{ $db->table_info('', 'public', 'ids', '')->fetchall_arrayref } });
    check('meta column_info', sub { @{ $db->column_info('', 'public', 'ids', '%')->fetchall_arrayref } == 2 });
    check('meta primary_key_info', sub { !defined $db->primary_key_info('', 'public', 'ids') || 1 });
    check('meta statistics_info', sub { !defined $db->statistics_info('', 'public', 'ids', 0, 0) || 1 });
    check('meta tables', sub { grep { $_ eq 'public.ids' } $db->tables('', 'public', '', '') });
    check('meta type_info_all', sub { scalar @{ $db->type_info_all } });
}
$db->disconnect;
exit $Verdict::failed;
