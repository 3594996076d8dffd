# Rose::DB and Rose::DB::Object over DBD::Pg and DBD::mysql.
use strict;
use warnings;

package Shop::DB;
use base 'Rose::DB';
__PACKAGE__->use_private_registry;
__PACKAGE__->register_db(
    driver => $ENV{PROTOCOL} eq 'mysql' ? 'mysql' : 'Pg', host => $ENV{HOST}, port => $ENV{PORT}, database => $ENV{DB},
    username => $ENV{USER}, password => $ENV{PASSWORD},
);

package Shop::Ids;
use base 'Rose::DB::Object';
sub init_db { Shop::DB->new }
__PACKAGE__->meta->table('ids');
__PACKAGE__->meta->auto_init_columns;
__PACKAGE__->meta->primary_key_columns('name');
__PACKAGE__->meta->initialize;

package main;
use Verdict;

print "version $ENV{CLIENT} $Rose::DB::Object::VERSION\n";
my $db = Shop::DB->new;
sub ids { map { ($db->dbh->selectrow_array("SELECT next_id('orders')"))[0] } 1, 2 }
check('dbh', \&ids);
check('load', sub { map { Shop::Ids->new(name => 'orders')->load->id } 1, 2 });
check('do_transaction', sub {
    my @ids;
    $db->do_transaction(sub { @ids = ids() }) or die $db->error;
    return @ids;
});
check('next_value_in_sequence', sub { map { $db->next_value_in_sequence('orders') } 1, 2 }) if $ENV{PROTOCOL} ne 'mysql';
if (meta()) {
    check('meta list_tables', sub { grep { $_ eq 'ids' } $db->list_tables(include_views => 1) });
    check('meta auto_init_columns', sub { Shop::Ids->meta->column('id')->type eq 'bigint' });
}
exit $Verdict::failed;
