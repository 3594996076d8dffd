<?php
// pdo_pgsql and the functions of pgsql.
require getenv('VERDICT') . '/verdict.php';
echo "version $client ", PHP_VERSION, "\n";

function pdo(array $options = []): PDO
{
    $dsn = sprintf('pgsql:host=%s;port=%s;dbname=%s', getenv('HOST'), getenv('PORT'), getenv('DB'));
    return new PDO($dsn, getenv('USER'), getenv('PASSWORD'), $options);
}

function twice(PDOStatement $statement, array $arguments = []): array
{
    $ids = [];
    for ($i = 0; $i < 2; $i++) {
        $statement->execute($arguments);
        $ids[] = $statement->fetchColumn();
    }
    return $ids;
}

$pdo = pdo();
check('PDO query', fn () => [$pdo->query("SELECT next_id('orders')")->fetchColumn(), $pdo->query("SELECT next_id('orders')")->fetchColumn()]);
check('PDO prepare', fn () => twice($pdo->prepare('SELECT next_id(?)'), ['orders']));
check('PDO named parameter', fn () => twice($pdo->prepare('SELECT next_id(:name)'), ['name' => 'orders']));
check('PDO emulated prepare', fn () => twice(pdo([PDO::ATTR_EMULATE_PREPARES => true])->prepare('SELECT next_id(?)'), ['orders']));
check('PDO disabled prepare', fn () => twice(pdo([PDO::PGSQL_ATTR_DISABLE_PREPARES => true])->prepare('SELECT next_id(?)'), ['orders']));
check('PDO persistent', fn () => twice(pdo([PDO::ATTR_PERSISTENT => true])->prepare('SELECT next_id(?)'), ['orders']));
check('PDO next_ids', fn () => count($pdo->query("SELECT * FROM next_ids('orders', 3)")->fetchAll()) === 3);
check('PDO transaction', function () use ($pdo) {
    $pdo->beginTransaction();
    $ids = twice($pdo->prepare('SELECT next_id(?)'), ['orders']);
    $pdo->commit();
    return $ids;
});
check('PDO scrollable cursor', function () use ($pdo) {
    $pdo->beginTransaction();
    $cursor = $pdo->prepare("SELECT * FROM next_ids('orders', 2)", [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
    $cursor->execute();
    $ids = [$cursor->fetchColumn(), $cursor->fetchColumn()];
    $pdo->commit();
    return $ids;
});
check('PDO lastInsertId: currval', function () use ($pdo) {
    $id = $pdo->query("SELECT nextval('orders')")->fetchColumn();
    return $pdo->lastInsertId('orders') === (string) $id;
});
check('PDO SQLSTATE', function () use ($pdo) {
    try {
        $pdo->query('SELECT no_such_function(1)');
    } catch (PDOException $e) {
        return $e->getCode() === '42883';
    }
});

$pg = pg_connect(sprintf('host=%s port=%s dbname=%s user=%s password=%s', ...array_map('getenv', ['HOST', 'PORT', 'DB', 'USER', 'PASSWORD'])));
$one = fn (PgSql\Result|false $result) => pg_fetch_result($result, 0, 0);
check('pg_query', fn () => [$one(pg_query($pg, "SELECT next_id('orders')")), $one(pg_query($pg, "SELECT next_id('orders')"))]);
check('pg_query_params', fn () => [$one(pg_query_params($pg, 'SELECT next_id($1)', ['orders'])), $one(pg_query_params($pg, 'SELECT next_id($1)', ['orders']))]);
check('pg_prepare, pg_execute', fn () => pg_prepare($pg, 'next', 'SELECT next_id($1)') !== false
    ? [$one(pg_execute($pg, 'next', ['orders'])), $one(pg_execute($pg, 'next', ['orders']))] : false);
check('pg_ping, pg_version, pg_parameter_status', fn () => pg_ping($pg) && pg_version($pg)['server'] !== '' && pg_parameter_status($pg, 'TimeZone') !== false);
if ($meta) {
    check('meta PDO getColumnMeta', fn () => $pdo->query("SELECT id FROM ids WHERE name = 'orders'")->getColumnMeta(0)['native_type'] === 'int8');
    check('meta pg_field_type, pg_field_table', function () use ($pg) {
        $result = pg_query($pg, "SELECT id FROM ids WHERE name = 'orders'");
        return pg_field_type($result, 0) === 'int8' && pg_field_table($result, 0) === 'ids';
    });
    check('meta pg_meta_data', fn () => array_keys(pg_meta_data($pg, 'ids')) === ['name', 'id']);
}
exit($failed ? 1 : 0);
