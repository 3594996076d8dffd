<?php
// Laravel's query builder (Illuminate\Database) outside Laravel.
error_reporting(E_ALL & ~E_DEPRECATED);
require getenv('VERDICT') . '/verdict.php';
require 'Illuminate/Database/autoload.php';

use Illuminate\Database\Capsule\Manager;

echo "version $client ", shell_exec("dpkg-query -W -f '\${Version}' php-illuminate-database | sed 's/[+-].*//'"), "\n";

$capsule = new Manager();
$capsule->addConnection([
    'driver' => $mysql ? 'mysql' : 'pgsql', 'host' => getenv('HOST'), 'port' => getenv('PORT'), 'database' => getenv('DB'),
    'username' => getenv('USER'), 'password' => getenv('PASSWORD'), 'prefix' => '',
] + ($mysql ? ['charset' => 'utf8mb4', 'collation' => 'utf8mb4_unicode_ci', 'strict' => true, 'timezone' => '+00:00'] : ['charset' => 'utf8', 'schema' => 'public']));
$db = $capsule->getConnection();
$next = fn () => $db->selectOne('SELECT next_id(?) AS id', ['orders'])->id;

check('select', fn () => [$db->select("SELECT next_id('orders') AS id")[0]->id, $next()]);
check('table, value', fn () => [$db->table('ids')->where('name', 'orders')->value('id'), $db->table('ids')->where('name', 'orders')->value('id')]);
check('table, pluck', fn () => $db->table('id_batch')->where(['name' => 'orders', 'n' => 5])->pluck('id')->count() === 5);
check('nested transaction', fn () => $db->transaction(fn () => [$next(), $db->transaction($next)]));
check('cursor', fn () => count(iterator_to_array($db->cursor("SELECT id FROM id_batch WHERE name = 'orders' AND n = 5"))) === 5);
check('exists', fn () => $db->table('nextid.generators')->where('name', 'orders')->exists());
if ($meta) {
    check('meta getColumnListing', fn () => $db->getSchemaBuilder()->getColumnListing('ids') === ['name', 'id']);
}
exit($failed ? 1 : 0);
