<?php
// Doctrine DBAL over PDO and over the drivers without it.
require getenv('VERDICT') . '/verdict.php';
require 'Doctrine/DBAL/autoload.php';

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception\SyntaxErrorException;
use Doctrine\DBAL\Schema\Sequence;

echo "version $client ", shell_exec("dpkg-query -W -f '\${Version}' php-doctrine-dbal | sed 's/[+-].*//'"), "\n";

foreach ($mysql ? ['pdo_mysql', 'mysqli'] : ['pdo_pgsql', 'pgsql'] as $driver) {
    $db = DriverManager::getConnection([
        'driver' => $driver, 'host' => getenv('HOST'), 'port' => (int) getenv('PORT'),
        'user' => getenv('USER'), 'password' => getenv('PASSWORD'), 'dbname' => getenv('DB'),
    ]);
    $one = fn (...$query) => $db->fetchOne(...$query);
    check("$driver fetchOne", fn () => [$one("SELECT next_id('orders')"), $one("SELECT next_id('orders')")]);
    check("$driver placeholder", fn () => [$one('SELECT next_id(?)', ['orders']), $one('SELECT next_id(:name)', ['name' => 'orders'])]);
    check("$driver nested transactional", fn () => $db->transactional(fn () => [
        $one("SELECT nextval('orders')"), $db->transactional(fn () => $one("SELECT nextval('orders')")),
    ]));
    check("$driver query builder", function () use ($db) {
        $query = $db->createQueryBuilder()->select('id')->from('ids')->where('name IN (:names)')
            ->setParameter('names', ['orders'], Connection::PARAM_STR_ARRAY)->setMaxResults(1);
        return [$query->fetchOne(), $query->fetchOne()];
    });
    check("$driver iterateColumn", fn () => count(iterator_to_array($db->iterateColumn("SELECT id FROM id_batch WHERE name = 'orders' AND n = 5"))) === 5);
    check("$driver syntax error", function () use ($one) {
        try {
            $one('SELEC 1');
        } catch (SyntaxErrorException) {
            return true;
        }
    });
    $schema = $db->createSchemaManager();
    if (!$mysql) {
        $next = fn (string $sequence) => $one($db->getDatabasePlatform()->getSequenceNextValSQL($sequence));
        check("$driver sequence", function () use ($schema, $next) {
            $schema->createSequence(new Sequence('doctrine_seq', 10));
            $ids = [$next('doctrine_seq'), $next('doctrine_seq')];
            $schema->dropSequence('doctrine_seq');
            return $ids;
        });
    }
    if ($meta) {
        check("meta $driver listViews", fn () => array_filter($schema->listViews(), fn ($view) => str_contains($view->getName(), 'id_batch')) !== []);
        check("meta $driver introspectSchema", fn () => $schema->introspectSchema()->getTables() === []);
    }
}
exit($failed ? 1 : 0);
