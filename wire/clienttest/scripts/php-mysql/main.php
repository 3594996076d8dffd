<?php
// pdo_mysql and mysqli, both over mysqlnd.
require getenv('VERDICT') . '/verdict.php';
echo "version $client ", PHP_VERSION, "\n";
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);

function pdo(array $options = []): PDO
{
    $dsn = sprintf('mysql:host=%s;port=%s;dbname=%s;charset=utf8mb4', getenv('HOST'), getenv('PORT'), getenv('DB'));
    return new PDO($dsn, getenv('USER'), getenv('PASSWORD'), $options);
}

function twice(PDOStatement $statement, array $arguments = []): array
{
    $ids = [];
    for ($i = 0; $i < 2; $i++) {
        $statement->execute($arguments);
        $ids[] = $statement->fetchColumn();
        $statement->closeCursor();
    }
    return $ids;
}

$next = "SELECT next_id('orders')";
$pdo = pdo();
check('PDO query', fn () => [$pdo->query($next)->fetchColumn(), $pdo->query($next)->fetchColumn()]);
check('PDO prepare, put together by the client', fn () => twice($pdo->prepare('SELECT next_id(?)'), ['orders']));
check('PDO named parameter', fn () => twice($pdo->prepare('SELECT next_id(:name)'), ['name' => 'orders']));
check('PDO prepare, at the server', fn () => twice(pdo([PDO::ATTR_EMULATE_PREPARES => false])->prepare('SELECT next_id(?)'), ['orders']));
check('PDO prepare, at the server, without parameters', fn () => twice(pdo([PDO::ATTR_EMULATE_PREPARES => false])->prepare($next)));
check('PDO integers are integers', fn () => is_int($pdo->query($next)->fetchColumn()));
check('PDO persistent', fn () => twice(pdo([PDO::ATTR_PERSISTENT => true])->prepare('SELECT next_id(?)'), ['orders']));
check('PDO without a buffer', fn () => count(pdo([PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false])->query("SELECT id FROM next_ids('orders', 3) AS id")->fetchAll()) === 3);
check('PDO init command', fn () => twice(pdo([PDO::MYSQL_ATTR_INIT_COMMAND => 'SET NAMES utf8mb4'])->prepare($next)));
check('PDO transaction', function () use ($pdo) {
    $pdo->beginTransaction();
    $ids = twice($pdo->prepare('SELECT next_id(?)'), ['orders']);
    $pdo->commit();
    return $ids;
});
check('PDO several statements, nextRowset', function () use ($pdo, $next) {
    $results = $pdo->query("$next; $next");
    $first = $results->fetchColumn();
    $results->nextRowset();
    return [$first, $results->fetchColumn()];
});
check('PDO lastInsertId', function () use ($pdo) {
    $pdo->exec("DO next_id('orders')");
    return $pdo->lastInsertId() > 0;
});
check('PDO SQLSTATE', function () use ($pdo) {
    try {
        $pdo->query('SELEC 1');
    } catch (PDOException $e) {
        return $e->getCode() === '42000' && $e->errorInfo[1] === 1064;
    }
});

$my = new mysqli(getenv('HOST'), getenv('USER'), getenv('PASSWORD'), getenv('DB'), (int) getenv('PORT'));
check('mysqli query', fn () => [$my->query($next)->fetch_row()[0], $my->query($next)->fetch_row()[0]]);
check('mysqli prepare', function () use ($my) {
    $statement = $my->prepare('SELECT next_id(?)');
    $name = 'orders';
    $statement->bind_param('s', $name);
    $ids = [];
    for ($i = 0; $i < 2; $i++) {
        $statement->execute();
        $ids[] = $statement->get_result()->fetch_row()[0];
    }
    return $ids;
});
check('mysqli prepare, read-only cursor', function () use ($my) {
    $statement = $my->prepare("SELECT id FROM next_ids('orders', 3) AS id");
    $statement->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
    $statement->execute();
    $statement->bind_result($id);
    $rows = 0;
    while ($statement->fetch()) {
        $rows++;
    }
    $statement->close();
    return $rows === 3;
});
check('mysqli multi_query', function () use ($my, $next) {
    $my->multi_query("$next; $next");
    $first = $my->store_result()->fetch_row()[0];
    $my->next_result();
    return [$first, $my->store_result()->fetch_row()[0]];
});
check('mysqli transaction, savepoint', function () use ($my, $next) {
    $my->begin_transaction(MYSQLI_TRANS_START_READ_ONLY);
    $first = $my->query($next)->fetch_row()[0];
    $my->savepoint('s');
    $second = $my->query($next)->fetch_row()[0];
    $my->release_savepoint('s');
    $my->commit();
    return [$first, $second];
});
check('mysqli autocommit, rollback', fn () => $my->autocommit(false) && $my->rollback() && $my->autocommit(true));
check('mysqli insert_id', fn () => $my->query("DO next_id('orders')") && $my->insert_id > 0);
check('mysqli stat, set_charset, select_db', fn () => $my->stat() !== '' && $my->set_charset('utf8mb4') && $my->select_db(getenv('DB')));
check('mysqli change_user', fn () => $my->change_user(getenv('USER'), getenv('PASSWORD'), getenv('DB')));
check('mysqli async', function () use ($my, $next) {
    $my->query($next, MYSQLI_ASYNC);
    return $my->reap_async_query()->fetch_row()[0] > 0;
});
check('mysqli error 1064', function () use ($my) {
    try {
        $my->query('SELEC 1');
    } catch (mysqli_sql_exception $e) {
        return $e->getCode() === 1064;
    }
});
if ($meta) {
    check('meta PDO getColumnMeta', fn () => $pdo->query("SELECT id FROM ids WHERE name = 'orders'")->getColumnMeta(0)['native_type'] === 'LONGLONG');
    check('meta mysqli fetch_fields', function () use ($my) {
        $field = $my->query("SELECT id FROM ids WHERE name = 'orders'")->fetch_fields()[0];
        return $field->type === MYSQLI_TYPE_LONGLONG && $field->name === 'id';
    });
}
exit($failed ? 1 : 0);
