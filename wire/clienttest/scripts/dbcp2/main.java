import org.apache.commons.dbcp2.BasicDataSource;

class Main {
    public static void main(String[] args) throws Exception {
        try (BasicDataSource pool = new BasicDataSource()) {
            pool.setUrl(Verdict.url());
            pool.setUsername(Verdict.user());
            pool.setPassword(Verdict.password());
            pool.setMaxTotal(1);
            pool.setTestOnBorrow(true);
            pool.setPoolPreparedStatements(true);
            pool.setDefaultTransactionIsolation(java.sql.Connection.TRANSACTION_READ_COMMITTED);
            Pool.check(pool);
        }
        Verdict.done();
    }
}
