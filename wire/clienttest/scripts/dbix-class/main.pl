# DBIx::Class over DBD::Pg.
use strict;
use warnings;

package Shop::Ids;
use base 'DBIx::Class::Core';
__PACKAGE__->table('ids');
__PACKAGE__->add_columns(qw(name id));
__PACKAGE__->set_primary_key('name');

package Shop;
use base 'DBIx::Class::Schema';
__PACKAGE__->register_class(Ids => 'Shop::Ids');

package main;
use Verdict;
print "version $ENV{CLIENT} $DBIx::Class::VERSION\n";

my $shop = Shop->connect("dbi:Pg:host=$ENV{HOST};port=$ENV{PORT};dbname=$ENV{DB}", $ENV{USER}, $ENV{PASSWORD});
my $ids = $shop->resultset('Ids');
check('dbh_do', sub {
    map { $shop->storage->dbh_do(sub { ($_[1]->selectrow_array('SELECT next_id(?)', undef, 'orders'))[0] }) } 1, 2;
});
check('find', sub { map { $ids->find('orders')->id } 1, 2 });
check('search', sub { map { $ids->search({ name => 'orders' })->get_column('id')->next } 1, 2 });
check('txn_do, nested', sub {
    $shop->txn_do(sub {
        my $first = $ids->find('orders')->id;
        return ($first, $shop->txn_do(sub { $ids->find('orders')->id }));
    });
});
check('server version', sub { $shop->storage->_server_info->{dbms_version} });
exit $Verdict::failed;
