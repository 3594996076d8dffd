<?php
// The verdicts of a PHP client: one line a check, for the test to read.
$client = getenv('CLIENT');
$failed = false;
$mysql = getenv('PROTOCOL') === 'mysql';
$meta = in_array('meta', explode(',', getenv('CHECKS')));

// check runs f, which returns two rising ids, or true.
function check(string $what, callable $f): void
{
    global $client, $failed;
    try {
        $got = $f();
        if ($got === true || (is_array($got) && count($got) === 2 && 0 < (int) $got[0] && (int) $got[0] < (int) $got[1])) {
            echo "ok $client $what\n";
            return;
        }
        $why = json_encode($got);
    } catch (Throwable $e) {
        $why = $e->getMessage();
    }
    $failed = true;
    echo "FAIL $client $what: ", preg_replace('/\s+/', ' ', $why), "\n";
}
