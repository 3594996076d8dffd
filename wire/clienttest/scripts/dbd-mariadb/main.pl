# DBD::MariaDB.
use strict;
use warnings;
use DBI;
use Verdict;

print "version $ENV{CLIENT} $DBD::MariaDB::VERSION\n" if require DBD::MariaDB;
my $dsn = "dbi:MariaDB:host=$ENV{HOST};port=$ENV{PORT};database=$ENV{DB}";
for my $prepared (0, 1) {
    my $db = DBI->connect($dsn, $ENV{USER}, $ENV{PASSWORD}, { RaiseError => 1, PrintError => 0, mariadb_server_prepare => $prepared });
    my $one = sub { ($db->selectrow_array(@_))[0] };
    my $how = $prepared ? ', prepared by the server' : '';
    check("selectrow_array$how", sub { map { $one->("SELECT next_id('orders')") } 1, 2 });
    check("placeholder$how", sub { map { $one->('SELECT next_id(?)', undef, 'orders') } 1, 2 });
    check("id_batch$how", sub { @{ $db->selectcol_arrayref('SELECT id FROM id_batch WHERE name = ? AND n = ?', undef, 'orders', 5) } == 5 });
    check("transaction$how", sub {
        $db->begin_work;
        my @ids = map { $one->("SELECT nextval('orders')") } 1, 2;
        $db->commit;
        return @ids;
    });
    check("error 1064$how", sub { eval { $db->do('SELEC 1') }; $db->err == 1064 && $db->state eq '42000' && $db->ping });
    next if $prepared || !meta();
    check('meta tables', sub { grep { /`ids`$/ } $db->tables });
    check('meta column_info', sub {
        my $columns = $db->column_info(undef, $ENV{DB}, 'ids', '%')->fetchall_hashref('COLUMN_NAME');
        return $columns->{id}{TYPE_NAME} eq 'BIGINT' && $columns->{name}{COLUMN_SIZE} == 255;
    });
}
exit $Verdict::failed;
